/**
 * AMF0, the encoding of RTMP's commands and metadata: bytes to values and back. Pure. "Action Message Format – AMF 0"
 * (Adobe, 2007)
 */

export type AmfValue = number | boolean | string | null | undefined | AmfObject | readonly AmfValue[];

/** A decoded object has no prototype, so a client's key never hits an inherited member. */
export interface AmfObject {
  readonly [key: string]: AmfValue;
}

/** Thrown for bytes that are not AMF0 or exceed a limit. */
export class AmfError extends Error {
  override readonly name = 'AmfError';
}

/** Limit of nested objects and arrays. */
const MAX_DEPTH = 16;
/** Limit of values, nested ones included; encoders' metadata has some 40. */
const MAX_VALUES = 4096;

/** Type markers. §2.1 */
const MARKER = {
  number: 0,
  boolean: 1,
  string: 2,
  object: 3,
  null: 5,
  undefined: 6,
  ecmaArray: 8,
  objectEnd: 9,
  strictArray: 10,
  date: 11,
  longString: 12,
  unsupported: 13,
  xmlDocument: 15,
  typedObject: 16,
} as const;

/** Decodes a sequence of values. Throws `AmfError`. A date becomes its milliseconds, XML its text. */
export function decodeAmf0(bytes: Buffer): AmfValue[] {
  const reader = new Reader(bytes);
  const values: AmfValue[] = [];
  while (!reader.isAtEnd) values.push(reader.readValue(0));
  return values;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;
  #values = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  readValue(depth: number): AmfValue {
    if (depth > MAX_DEPTH) throw new AmfError(`AMF0: values more than ${MAX_DEPTH} deep`);
    if (++this.#values > MAX_VALUES) throw new AmfError(`AMF0: more than ${MAX_VALUES} values`);
    const marker = this.#bytes.readUInt8(this.#take(1));
    switch (marker) {
      case MARKER.number:
        return this.#bytes.readDoubleBE(this.#take(8));
      case MARKER.boolean:
        return this.#bytes.readUInt8(this.#take(1)) !== 0;
      case MARKER.string:
        return this.#readText(this.#bytes.readUInt16BE(this.#take(2)));
      case MARKER.longString:
      case MARKER.xmlDocument:
        return this.#readText(this.#bytes.readUInt32BE(this.#take(4)));
      case MARKER.object:
        return this.#readObject(depth);
      case MARKER.typedObject:
        this.#readText(this.#bytes.readUInt16BE(this.#take(2))); // the class's name
        return this.#readObject(depth);
      case MARKER.ecmaArray:
        this.#take(4); // a count that encoders get wrong; the end is marked
        return this.#readObject(depth);
      case MARKER.strictArray:
        return this.#readArray(depth);
      case MARKER.date: {
        const at = this.#take(10); // with a time zone that is reserved
        return this.#bytes.readDoubleBE(at);
      }
      case MARKER.null:
        return null;
      case MARKER.undefined:
      case MARKER.unsupported:
        return undefined;
      default:
        throw new AmfError(`AMF0: type ${marker} is not supported`);
    }
  }

  #readObject(depth: number): AmfObject {
    const object: Record<string, AmfValue> = Object.create(null);
    // Some encoders omit the end mark of a last, empty array.
    while (!this.isAtEnd) {
      const key = this.#readText(this.#bytes.readUInt16BE(this.#take(2)));
      if (key === '' && this.#bytes[this.#at] === MARKER.objectEnd) {
        this.#take(1);
        return object;
      }
      object[key] = this.readValue(depth + 1);
    }
    return object;
  }

  #readArray(depth: number): AmfValue[] {
    const length = this.#bytes.readUInt32BE(this.#take(4));
    if (length > MAX_VALUES) throw new AmfError(`AMF0: an array of more than ${MAX_VALUES} values`);
    const values: AmfValue[] = [];
    for (let index = 0; index < length; index++) values.push(this.readValue(depth + 1));
    return values;
  }

  #readText(length: number): string {
    const at = this.#take(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** Consumes `length` bytes and returns their offset. */
  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) throw new AmfError('AMF0: the bytes end within a value');
    this.#at = at + length;
    return at;
  }
}

/** Encodes a sequence of values. An array becomes a strict array, an object an anonymous object. */
export function encodeAmf0(...values: readonly AmfValue[]): Buffer {
  const pieces: Buffer[] = [];
  for (const value of values) encodeValue(value, pieces);
  return Buffer.concat(pieces);
}

function encodeValue(value: AmfValue, pieces: Buffer[]): void {
  if (value === null) pieces.push(Buffer.of(MARKER.null));
  else if (value === undefined) pieces.push(Buffer.of(MARKER.undefined));
  else if (typeof value === 'boolean') pieces.push(Buffer.of(MARKER.boolean, value ? 1 : 0));
  else if (typeof value === 'number') pieces.push(encodeNumber(value));
  else if (typeof value === 'string') pieces.push(encodeString(value));
  else if (isArray(value)) {
    pieces.push(Buffer.of(MARKER.strictArray), uint32(value.length));
    for (const item of value) encodeValue(item, pieces);
  } else {
    pieces.push(Buffer.of(MARKER.object));
    for (const [key, item] of Object.entries(value)) {
      pieces.push(encodeText(key));
      encodeValue(item, pieces);
    }
    pieces.push(Buffer.of(0, 0, MARKER.objectEnd));
  }
}

/** `Array.isArray` does not narrow a union with a read-only array. */
function isArray(value: AmfObject | readonly AmfValue[]): value is readonly AmfValue[] {
  return Array.isArray(value);
}

function encodeNumber(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(9);
  bytes.writeUInt8(MARKER.number);
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

function encodeString(value: string): Buffer {
  const length = Buffer.byteLength(value);
  if (length <= 0xffff) return Buffer.concat([Buffer.of(MARKER.string), encodeText(value)]);
  return Buffer.concat([Buffer.of(MARKER.longString), uint32(length), Buffer.from(value)]);
}

/** Encodes a text of at most 65,535 bytes without its type marker. */
function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
