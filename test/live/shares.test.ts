/** What the streams of one domain may take of the live process, and what is left for the others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FlvReader } from '#fanout/media/flv.ts';
import { writeMessage } from '#live/rtmp/chunk-writer.ts';
import { MESSAGE_TYPE } from '#live/rtmp/messages.ts';
import { eventually } from '../support/eventually.ts';
import { OTHER_HOST, startLiveWorld } from '../support/live/live-world.ts';

const OTHER = { host: OTHER_HOST };
const keyFrame = (timestampMs: number, bytes: number) =>
  ({
    kind: 'video',
    timestampMs,
    data: Buffer.concat([Buffer.from([0x17, 1, 0, 0, 0]), Buffer.alloc(bytes)]),
  }) as const;

test('a domain has a share of the streams, and a publisher that comes back takes no more', async (t) => {
  const world = await startLiveWorld(t, { maxStreams: 4 });
  const first = await world.publish('a');
  await world.publish('b');
  const refused = await (await world.publisher()).publish('c');
  assert.equal(refused.code, 'NetStream.Publish.Denied');
  assert.equal(refused.description, 'the domain has its share of the live streams that this machine takes at once');
  await world.publish('a', OTHER);
  assert.deepEqual(
    world.lines.map(({ target, status }) => [target, status]),
    [['rtmp://live.example.com/live/c', 503]],
  );
  first.break();
  await eventually('in grace', () => world.states.get('a') === 'grace');
  await world.publish('a');
});

test('a domain that fills its share of the memory has streams emptied, which continue, and gets no new ones', async (t) => {
  const world = await startLiveWorld(t, { memoryBytes: 1_000_000 });
  const publisher = await world.publish('a');
  await world.publish('b', OTHER);
  publisher.send(keyFrame(1_000, 600_000));
  let tries = 0;
  const refusal = await eventually('refused', async () => {
    const { code, description } = await (await world.publisher()).publish(`c${tries++}`);
    return code === 'NetStream.Publish.Denied' ? description : undefined;
  });
  assert.match(refusal, /live-memory/);
  // Those who come begin with the next key frame.
  const reader = new FlvReader();
  const times: number[] = [];
  const viewer = await world.openFlv('a');
  viewer.on('data', (bytes: Buffer) => {
    for (const { kind, timestampMs, data } of reader.push(bytes))
      if (kind === 'video' && data[1] === 1) times.push(timestampMs);
  });
  publisher.send(keyFrame(2_000, 100));
  await eventually('the next key frame', () => times.length > 0);
  assert.equal(times.length, 1);
  await world.publish('c', OTHER);
});

test('a publisher who fills its share of the memory with messages that never end is cut', async (t) => {
  const world = await startLiveWorld(t, { memoryBytes: 1_000_000 });
  const publisher = await world.publish('a');
  const whole = writeMessage(
    { type: MESSAGE_TYPE.video, timestamp: 0, streamId: publisher.streamId, payload: Buffer.alloc(700_000) },
    5,
    4096,
  );
  publisher.socket.write(whole.subarray(0, 5_000));
  await eventually('cut', () => publisher.statuses.some(({ code }) => code === 'NetStream.Publish.Denied'));
  assert.match(publisher.statuses.at(-1)?.description ?? '', /live-memory/);
});

test('refused publishers do not fill the log', async (t) => {
  const refusals: unknown[] = [];
  const log = {
    ...silent(),
    warn: (fields: { reason?: string; leftOut?: number }, message: string) => {
      if (message === 'publishing refused') refusals.push(fields);
    },
  };
  const world = await startLiveWorld(t, { log: log as never }); // `as`: the process uses no more of a logger
  for (let i = 0; i < 25; i++) {
    const { code } = await (await world.publisher({ host: 'nobody.example.com' })).publish(`s${i}?auth_key=1`);
    assert.equal(code, 'NetStream.Publish.Denied');
  }
  assert.ok(refusals.length >= 10 && refusals.length < 25, String(refusals.length));
});

function silent() {
  const nothing = () => undefined;
  return { info: nothing, error: nothing, debug: nothing, trace: nothing };
}
