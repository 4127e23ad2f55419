import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitLines } from './lines.ts';
import { formatEvent, HEARTBEAT, readEvents, type SseItem } from './sse.ts';

async function* cut(text: string, bytes: number): AsyncGenerator<Buffer> {
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += bytes) yield all.subarray(at, at + bytes);
}

async function read(text: string, bytes: number, maxChars = 1000): Promise<SseItem[]> {
  return await Array.fromAsync(readEvents(cut(text, bytes), maxChars));
}

test('events are read as they were written, however they are cut', async () => {
  const data = JSON.stringify({ text: 'é \u2028 漢 🏢 \r' });
  const written = `${HEARTBEAT}${formatEvent({ id: 7, name: 'delta', data })}${formatEvent({ name: 'reset', data: '{}' })}`;
  const expected = [
    { kind: 'comment', text: '' },
    { kind: 'event', name: 'delta', data },
    { kind: 'event', name: 'reset', data: '{}' },
  ];
  for (let bytes = 1; bytes < 20; bytes += 1) assert.deepEqual(await read(written, bytes), expected);
});

test('an event that the end cuts short is dropped, and so is an event without data', async () => {
  assert.deepEqual(await read('event: delta\ndata: 1\n', 5), []);
  assert.deepEqual(await read('event: delta\n\n', 5), []);
});

test('an event and a line are bounded', async () => {
  await assert.rejects(read(`data: ${'x'.repeat(100)}\n\n`, 10, 50), /longer than 50/);
  await assert.rejects(read('data: xxxxxxxxx\n'.repeat(10), 10, 50), /longer than 50/);
  await assert.rejects(read('x'.repeat(100), 10, 50), /longer than 50/);
});

test('only LF ends a line, and a last line needs none', async () => {
  const lines = async (text: string, bytes: number) =>
    (await Array.fromAsync(splitLines(cut(text, bytes), 100))).flat();
  for (const bytes of [1, 2, 3, 100]) {
    assert.deepEqual(await lines('a\r\n\n\u2028b\nc', bytes), ['a\r', '', '\u2028b', 'c']);
    assert.deepEqual(await lines('', bytes), []);
  }
});
