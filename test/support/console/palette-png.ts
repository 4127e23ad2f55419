/**
 * Pictures with a palette: a screenshot has a few hundred colors, most of them of smoothed letters, and is a third as large with
 * 256 of them. PNG, third edition (W3C).
 */
import assert from 'node:assert/strict';
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_COLORS = 256;
/** Bits of each channel by which colors are counted as one. */
const KEPT_BITS = 5;

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue, in rows. */
  readonly rgb: Uint8Array;
}

/** The same picture with at most 256 colors. `png`: 8 bits a channel, without interlacing, as browsers write it. */
export function toPalettePng(png: Buffer): Buffer {
  const { width, height, rgb } = readPixels(png);
  const palette = choosePalette(rgb);
  const indexOf = nearestIn(palette);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) rows[y * (width + 1) + 1 + x] = indexOf(colorAt(rgb, (y * width + x) * 3));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8); // 8 bits an index, with a palette
  const colors = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 0xff, color & 0xff]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', colors),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

export function readPixels(png: Buffer): Pixels {
  const parts: Buffer[] = [];
  let head: Buffer = Buffer.alloc(13);
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') head = data;
    if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const channels = { 2: 3, 6: 4 }[head[9] ?? 0];
  assert.ok(
    head[8] === 8 && channels !== undefined && head[12] === 0,
    'expected 8 bits of RGB or RGBA, not interlaced',
  );
  const bytes = unfilter(inflateSync(Buffer.concat(parts)), { height, length: width * channels, channels });
  const rgb = new Uint8Array(width * height * 3);
  for (let n = 0; n < width * height; n += 1) rgb.set(bytes.subarray(n * channels, n * channels + 3), n * 3);
  return { width, height, rgb };
}

interface Rows {
  readonly height: number;
  /** Bytes of a row. */
  readonly length: number;
  readonly channels: number;
}

/** PNG §9: each row begins with the filter that its bytes were written with. */
function unfilter(filtered: Buffer, { height, length, channels }: Rows): Uint8Array {
  const out = new Uint8Array(height * length);
  for (let y = 0; y < height; y += 1) {
    const filter = filtered[y * (length + 1)];
    for (let x = 0; x < length; x += 1) {
      const at = y * length + x;
      const left = x < channels ? 0 : (out[at - channels] ?? 0);
      const up = y === 0 ? 0 : (out[at - length] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (out[at - length - channels] ?? 0);
      const guesses = [0, left, up, (left + up) >> 1, paeth(left, up, corner)];
      out[at] = (filtered[y * (length + 1) + 1 + x] ?? 0) + (guesses[filter ?? 0] ?? 0);
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

/** All colors if they are few, else the most frequent one of each group of similar colors, of the most frequent groups. */
function choosePalette(rgb: Uint8Array): readonly number[] {
  const counts = new Map<number, number>();
  for (let at = 0; at < rgb.length; at += 3) {
    const color = colorAt(rgb, at);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const byCount = [...counts].sort(([a, m], [b, n]) => n - m || a - b);
  if (byCount.length <= MAX_COLORS) return byCount.map(([color]) => color);
  const groups = new Map<number, { readonly color: number; count: number }>();
  for (const [color, count] of byCount) {
    const group = groups.get(groupOf(color));
    if (group === undefined) groups.set(groupOf(color), { color, count });
    else group.count += count;
  }
  return [...groups.values()]
    .sort((a, b) => b.count - a.count)
    .slice(0, MAX_COLORS)
    .map(({ color }) => color);
}

function groupOf(color: number): number {
  const dropped = 8 - KEPT_BITS;
  return ((color >> (16 + dropped)) << 16) | (((color >> (8 + dropped)) & 0xff) << 8) | ((color & 0xff) >> dropped);
}

/** Returns the index of the color of the palette that is most like a color. */
function nearestIn(palette: readonly number[]): (color: number) => number {
  const known = new Map(palette.map((color, index) => [color, index]));
  return (color) => {
    const index = known.get(color);
    if (index !== undefined) return index;
    const distances = palette.map((other) => distance(color, other));
    const nearest = distances.indexOf(Math.min(...distances));
    known.set(color, nearest);
    return nearest;
  };
}

function distance(a: number, b: number): number {
  return [16, 8, 0].reduce((sum, shift) => sum + (((a >> shift) & 0xff) - ((b >> shift) & 0xff)) ** 2, 0);
}

function colorAt(rgb: Uint8Array, at: number): number {
  return ((rgb[at] ?? 0) << 16) | ((rgb[at + 1] ?? 0) << 8) | (rgb[at + 2] ?? 0);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
