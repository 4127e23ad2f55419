/**
 * The dynamic table: fields that later sections may refer to, newest first. Its size in bytes is bounded. RFC 7541
 * §2.3.2, §4. Pure.
 */

export interface TableEntry {
  readonly name: string;
  readonly value: string;
}

/** Overhead of an entry besides its name and value. RFC 7541 §4.1 */
const ENTRY_BYTES = 32;

export function entryBytes({ name, value }: TableEntry): number {
  return name.length + value.length + ENTRY_BYTES;
}

export class DynamicTable<T extends TableEntry> {
  /** Ring buffer of the entries. */
  readonly #entries: (T | undefined)[];
  #newest = 0;
  #count = 0;
  #bytes = 0;
  #maxBytes: number;

  /** `limitBytes`: the largest size that `resize` may set. */
  constructor(limitBytes: number) {
    this.#maxBytes = limitBytes;
    this.#entries = Array.from({ length: Math.max(1, Math.floor(limitBytes / ENTRY_BYTES)) });
  }

  /** The entry at `index`; 0 is the newest. */
  get(index: number): T | undefined {
    const { length } = this.#entries;
    return index < this.#count ? this.#entries[(this.#newest - index + length) % length] : undefined;
  }

  /** Adds an entry, evicting the oldest. An entry larger than the table only empties it. RFC 7541 §4.4 */
  add(entry: T): void {
    const bytes = entryBytes(entry);
    this.#shrinkTo(this.#maxBytes - bytes);
    if (bytes > this.#maxBytes) return;
    this.#newest = (this.#newest + 1) % this.#entries.length;
    this.#entries[this.#newest] = entry;
    this.#count += 1;
    this.#bytes += bytes;
  }

  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes;
    this.#shrinkTo(maxBytes);
  }

  #shrinkTo(bytes: number): void {
    const { length } = this.#entries;
    while (this.#bytes > bytes && this.#count > 0) {
      const at = (this.#newest - this.#count + 1 + length) % length;
      const oldest = this.#entries[at];
      this.#entries[at] = undefined;
      this.#count -= 1;
      if (oldest !== undefined) this.#bytes -= entryBytes(oldest);
    }
  }
}
