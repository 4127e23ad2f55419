/** A sample of the mutated sessions of `test/soak/live-rtmp.soak.ts`, and what ffmpeg itself sends, in pieces of any size. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp, createServer } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Ffmpeg } from '../support/live/ffmpeg-publisher.ts';
import { fuzzSessions } from '../support/live/rtmp-fuzz.ts';
import { createRecordingOwner, startTestRtmpServer } from '../support/live/rtmp-server.ts';
import { openSession } from '../support/live/rtmp-session.ts';
import { needs } from '../support/runner/needs.ts';

test('1,000 mutated sessions end only themselves, and use bounded memory', async () => {
  const { ends, published, messages, peakBytes } = await fuzzSessions(1_000, 7);
  // The changes reach all layers, and not every session ends at the first.
  for (const end of ['open', 'malformed', 'refused']) assert.ok((ends.get(end) ?? 0) > 30, JSON.stringify([...ends]));
  assert.ok(published > 300 && messages > 3_000, `${published} ${messages}`);
  assert.ok(peakBytes < 256 * 1024 * 1024, `${peakBytes} bytes`);
});

test('a stream of ffmpeg is read alike in pieces of any size', needs('ffmpeg'), async () => {
  await using server = await startTestRtmpServer();
  const recorded: Buffer[] = [];
  const tap = createServer((client) => {
    const onward = connectTcp(server.port, '127.0.0.1').on('error', () => client.destroy());
    client.on('data', (bytes: Buffer) => recorded.push(bytes)).on('error', () => onward.destroy());
    client.pipe(onward).pipe(client);
  });
  await once(tap.listen(0, '127.0.0.1'), 'listening');
  await using _tap = { [Symbol.asyncDispose]: async () => void (await once(tap.close(), 'close')) };
  const address = tap.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  await using encoder = new Ffmpeg(`rtmp://127.0.0.1:${port}/live/a`, { seconds: 5, isUnpaced: true });
  assert.equal(await encoder.ended(), 0, encoder.log);
  const [live] = server.owner.published;
  assert.ok((live?.messages.length ?? 0) > 300);
  const bytes = Buffer.concat(recorded);
  for (const size of [1, 2, 11, 127, 1537, 4096, bytes.length]) {
    const owner = createRecordingOwner();
    const client = openSession(owner, false);
    for (let at = 0; at < bytes.length; at += size) {
      client.receive(bytes.subarray(at, at + size));
      if (client.isPaused) await turn();
    }
    await turn();
    assert.deepEqual(owner.published[0]?.messages, live?.messages, `pieces of ${size}`);
    assert.deepEqual(owner.published[0]?.end, { kind: 'unpublished' });
    client.session.leave('the end of the test');
  }
});
