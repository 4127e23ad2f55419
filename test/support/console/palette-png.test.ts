import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { readPixels, toPalettePng } from './palette-png.ts';

const [WIDTH, HEIGHT] = [7, 10];

test('pictures are read with each of the five filters, with and without transparency', () => {
  for (const channels of [3, 4]) {
    const colors = (x: number, y: number) => [x * 36, y * 25, (x * y * 11) % 256];
    const { width, height, rgb } = readPixels(encode(channels, colors));
    assert.deepEqual([width, height], [WIDTH, HEIGHT]);
    for (let y = 0; y < HEIGHT; y += 1)
      for (let x = 0; x < WIDTH; x += 1)
        assert.deepEqual([...rgb.subarray((y * WIDTH + x) * 3, (y * WIDTH + x) * 3 + 3)], colors(x, y));
  }
});

test('a picture of few colors keeps them all', () => {
  const colors = (x: number, y: number) => [x * 36, y * 25, 7];
  const { palette, indices } = readIndexed(toPalettePng(encode(4, colors)));
  for (let y = 0; y < HEIGHT; y += 1)
    for (let x = 0; x < WIDTH; x += 1) {
      const at = (indices[y * (WIDTH + 1) + 1 + x] ?? 0) * 3;
      assert.deepEqual([...palette.subarray(at, at + 3)], colors(x, y));
    }
});

/** Each row is written with the filter after that of the row before. PNG §9.2 */
function encode(channels: number, colors: (x: number, y: number) => readonly number[]): Buffer {
  const pixel = (x: number, y: number) => [...colors(x, y), ...(channels === 4 ? [255] : [])];
  const raw = Array.from({ length: HEIGHT }, (_, y) => Array.from({ length: WIDTH }, (_, x) => pixel(x, y)).flat());
  const rows = raw.map((row, y) => {
    const filter = y % 5;
    const filtered = row.map((byte, x) => {
      const [left, up] = [row[x - channels] ?? 0, raw[y - 1]?.[x] ?? 0];
      const corner = raw[y - 1]?.[x - channels] ?? 0;
      const nearest = [left, up, corner].reduce((best, one) => {
        const off = (value: number) => Math.abs(left + up - corner - value);
        return off(one) < off(best) ? one : best;
      });
      return (byte - ([0, left, up, Math.floor((left + up) / 2), nearest][filter] ?? 0)) & 0xff;
    });
    return [filter, ...filtered];
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(WIDTH, 0);
  head.writeUInt32BE(HEIGHT, 4);
  head.set([8, channels === 4 ? 6 : 2], 8);
  const chunks = [
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.of()),
  ];
  return Buffer.concat([Buffer.alloc(8), ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  const named = Buffer.concat([Buffer.from(type), data]);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

function readIndexed(png: Buffer): { readonly palette: Buffer; readonly indices: Buffer } {
  const parts = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    parts.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + length));
    assert.equal(png.readUInt32BE(at + 8 + length), crc32(png.subarray(at + 4, at + 8 + length)));
    at += length + 12;
  }
  return {
    palette: parts.get('PLTE') ?? assert.fail(),
    indices: inflateSync(parts.get('IDAT') ?? assert.fail()),
  };
}
