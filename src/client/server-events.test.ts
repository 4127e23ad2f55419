import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createEventParser, readServerEvents } from './server-events.ts';

const STREAM = [
  'event: ready\ndata: {"watcher":"token:7"}\n\n',
  ':\n\n',
  'id: 7-3\nevent: domain\ndata: one\ndata: two\n\n',
  'data: 后\r\n\r\nevent: nothing\n\nid: 9-3\n\ndata:bare\n\n',
].join('');

const EVENTS = [
  { id: '', event: 'ready', data: '{"watcher":"token:7"}' },
  { id: '7-3', event: 'domain', data: 'one\ntwo' },
  { id: '7-3', event: 'message', data: '后' },
  { id: '9-3', event: 'message', data: 'bare' },
];

describe('the reader of server-sent events', () => {
  test('events are the same however the bytes are divided', async () => {
    const bytes = new TextEncoder().encode(STREAM);
    for (const size of [1, 2, 3, 7, 64, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.slice(n * size, (n + 1) * size),
      );
      let arrivals = 0;
      const read = await Array.fromAsync(
        readServerEvents(ReadableStream.from(pieces), () => {
          arrivals += 1;
        }),
      );
      assert.deepEqual(read, EVENTS, `in pieces of ${size}`);
      assert.equal(arrivals, pieces.length);
    }
  });

  test('an event that is cut off is dropped', () => {
    assert.deepEqual(createEventParser()('event: domain\ndata: one\n'), []);
  });

  test('a line without an end is refused', () => {
    const parse = createEventParser();
    assert.throws(() => {
      for (let n = 0; n < 100; n += 1) parse('x'.repeat(20_000));
    }, /longer than 1048576 characters/);
  });
});
