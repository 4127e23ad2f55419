/** Builds boxes of ISO base media files (ISO/IEC 14496-12 §4.2); simple rather than fast, for init segments. */

export function box(type: string, ...contents: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(contents.reduce((sum, { length }) => sum + length, 8));
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, ...contents]);
}

/** Builds a box with a version and 24 bits of flags. */
export function fullBox(type: string, version: number, flags: number, ...contents: readonly Buffer[]): Buffer {
  return box(type, uint32(version * 0x1000000 + flags), ...contents);
}

export function uint16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

export function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

export function zeros(bytes: number): Buffer {
  return Buffer.alloc(bytes);
}
