/** Decodes the field sections of one connection. RFC 7541. Pure, except for the dynamic table. */
import { DynamicTable, entryBytes, type TableEntry } from './dynamic-table.ts';
import { decodeHuffman, maxDecodedBytes } from './huffman.ts';
import { type Cursor, readPrefixInteger } from './integers.ts';
import { STATIC_FIELDS } from './static-table.ts';

/** Makes the object for a field, once for as long as it stays in a table. */
export interface FieldMaker<T extends TableEntry> {
  readonly make: (name: string, value: string) => T;
  /** The made fields of `STATIC_FIELDS`. */
  readonly staticFields: readonly T[];
}

export function createFieldMaker<T extends TableEntry>(make: FieldMaker<T>['make']): FieldMaker<T> {
  return { make, staticFields: STATIC_FIELDS.map(([name, value]) => make(name, value)) };
}

/**
 * `tooLarge`: the fields exceed the limit, and only those that fit are in the list. `malformed`: the connection's
 * compression state is lost.
 */
export type SectionReading = 'whole' | 'tooLarge' | 'malformed';

/** The default size, which our SETTINGS leave as it is. RFC 9113 §6.5.2 */
export const TABLE_BYTES = 4096;

export class HpackDecoder<T extends TableEntry> {
  readonly #maker: FieldMaker<T>;
  readonly #table = new DynamicTable<T>(TABLE_BYTES);
  readonly #cursor: Cursor = { bytes: Buffer.alloc(0), at: 0, end: 0 };

  constructor(maker: FieldMaker<T>) {
    this.#maker = maker;
  }

  /**
   * Decodes a section into `into`, up to `maxListBytes` in total; each field counts as in the table. RFC 9113 §6.5.2
   */
  decode(bytes: Buffer, start: number, end: number, into: T[], maxListBytes: number): SectionReading {
    const cursor = this.#cursor;
    cursor.bytes = bytes;
    cursor.at = start;
    cursor.end = end;
    let listBytes = 0;
    let mayResize = true;
    while (cursor.at < end) {
      const first = bytes[cursor.at] ?? 0;
      if ((first & 0xe0) === 0x20) {
        // §4.2: allowed only before the fields
        const maxBytes = mayResize ? readPrefixInteger(cursor, 5) : -1;
        if (maxBytes < 0 || maxBytes > TABLE_BYTES) return 'malformed';
        this.#table.resize(maxBytes);
        continue;
      }
      mayResize = false;
      const field = first >= 0x80 ? this.#field(readPrefixInteger(cursor, 7)) : this.#literal(first);
      if (field === undefined) return 'malformed';
      listBytes += entryBytes(field);
      if (listBytes <= maxListBytes) into.push(field);
    }
    return listBytes > maxListBytes ? 'tooLarge' : 'whole';
  }

  /** Reads a literal field, with or without indexing. §6.2 */
  #literal(first: number): T | undefined {
    const isKept = first >= 0x40;
    const index = readPrefixInteger(this.#cursor, isKept ? 6 : 4);
    const name = index === 0 ? this.#text() : this.#field(index)?.name;
    const value = name === undefined ? undefined : this.#text();
    if (name === undefined || value === undefined) return undefined;
    const field = this.#maker.make(name, value);
    if (isKept) this.#table.add(field);
    return field;
  }

  /** Returns the field at an index of the combined tables. §2.3.3 */
  #field(index: number): T | undefined {
    const { staticFields } = this.#maker;
    return index <= staticFields.length ? staticFields[index - 1] : this.#table.get(index - staticFields.length - 1);
  }

  /** Reads a string literal, one character per byte. §5.2 */
  #text(): string | undefined {
    const cursor = this.#cursor;
    const isCoded = ((cursor.bytes[cursor.at] ?? 0) & 0x80) !== 0;
    const length = readPrefixInteger(cursor, 7);
    const start = cursor.at;
    if (length < 0 || length > cursor.end - start) return undefined;
    cursor.at += length;
    if (!isCoded) return cursor.bytes.toString('latin1', start, cursor.at);
    const room = maxDecodedBytes(length);
    const decoded = room <= SCRATCH.length ? SCRATCH : Buffer.allocUnsafe(room);
    const made = decodeHuffman(cursor.bytes, start, cursor.at, decoded);
    return made < 0 ? undefined : decoded.toString('latin1', 0, made);
  }
}

/** Scratch space for one call. */
const SCRATCH = Buffer.alloc(8 * 1024);
