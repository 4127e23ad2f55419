/** Recording at the live process: what control gets of a broadcast, whatever becomes of publisher, setting, process, control and disk. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { RecordingMessage } from '#feed/wire/recording-message.ts';
import { readPiece } from '#live/recording/piece-file.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveWorld, startLiveWorld } from '../support/live/live-world.ts';
import { aacHeader, avcHeader, frames } from '../support/live/media-messages.ts';
import { readMp4 } from '../support/live/mp4.ts';
import type { RtmpClient } from '../support/live/rtmp-client.ts';
import { temporaryFolder } from '../support/temporary.ts';

const OTHER_AVC = '0164000dffe1001a6764000dacd941519e226c0440000003004000000c83c50a658001000668ebe3cb22c0';

async function publish(world: LiveWorld, stream: string, untilMs: number): Promise<RtmpClient> {
  const client = await world.publisher();
  await client.publish(stream);
  send(client, 0, untilMs);
  await eventually('it is on air', () => world.states.get(stream) === 'live');
  return client;
}

function send(client: RtmpClient, fromMs: number, untilMs: number, headers = [avcHeader(), aacHeader()]): void {
  for (const message of [...headers, ...frames({ fromMs, untilMs })]) client.send(message);
}

/** Joins the pieces of one recording into a file. */
function fileOf(recorded: readonly RecordingMessage[]): Buffer {
  return Buffer.concat(recorded.map(({ bytes, initBytes }, n) => (n === 0 ? bytes : bytes.subarray(initBytes))));
}

function endsOf(recorded: readonly RecordingMessage[]): string[] {
  return recorded.flatMap(({ end }) => end ?? []);
}

/** How many frames of a rate of 30 there are, and when the first begins, in seconds. */
function videoOf(recorded: readonly RecordingMessage[]) {
  const [video] = readMp4(fileOf(recorded)).filter(({ kind }) => kind === 'video');
  assert.ok(video !== undefined);
  const [first] = video.samples;
  return { frames: video.samples.length, beganAt: (first?.dts ?? -1) / video.timeScale, codec: video.codec };
}

describe('a recording', () => {
  test('a recording covers the whole broadcast in pieces of ten seconds, and the last piece marks the end', async (t) => {
    const world = await startLiveWorld(t);
    world.setSite({ records: true });
    const publisher = await publish(world, 'a', 25_000);
    await eventually('two pieces come while it is on air', () => world.recorded.length === 2);
    publisher.unpublish('a');
    await eventually('the last one tells the end', () => endsOf(world.recorded).join() === 'ended');
    const { recorded } = world;
    assert.deepEqual(
      recorded.map(({ n, durationMs, isDiscontinuity }) => [n, Math.round(durationMs / 1_000), isDiscontinuity]),
      [
        [0, 10, false],
        [1, 10, false],
        [2, 5, false],
      ],
    );
    assert.deepEqual(videoOf(recorded), { frames: 750, beganAt: 0, codec: 'avc1.42c00d' });
    const [first] = recorded;
    assert.deepEqual([first?.domainId, first?.app, first?.stream, first?.edge], [7, 'live', 'a', 'test']);
    assert.equal(world.events[0]?.broadcast, first?.broadcast);
    assert.deepEqual(await eventually('the spool is empty', () => world.spooled().length === 0 && []), []);
  });

  test('a recording begins when the setting is turned on and ends when it is turned off', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await publish(world, 'a', 7_000);
    world.setSite({ records: true });
    await eventually('it begins', async () => (await world.metric('causeway_live_recordings')) === 1);
    send(publisher, 7_000, 20_000, []);
    await eventually('a piece is taken', () => world.recorded.length === 1);
    world.setSite({ records: false });
    await eventually('it ends', () => endsOf(world.recorded).join() === 'off');
    const { beganAt } = videoOf(world.recorded);
    assert.equal(beganAt, 0, 'it begins with its own first frame');
    send(publisher, 20_000, 32_000, []);
    publisher.unpublish('a');
    await eventually('the broadcast has ended', () => world.told.length === 2);
    assert.equal(new Set(world.recorded.map(({ recording }) => recording)).size, 1);
  });

  test('a recording continues when its publisher comes back, and another one begins when the formats change', async (t) => {
    const world = await startLiveWorld(t);
    world.setSite({ records: true });
    const first = await publish(world, 'a', 5_000);
    first.break();
    await eventually('it waits', () => world.states.get('a') === 'grace');
    const second = await publish(world, 'a', 5_000);
    send(second, 5_000, 9_000, [avcHeader(OTHER_AVC)]);
    second.unpublish('a');
    await eventually('both have ended', () => endsOf(world.recorded).length === 2);
    assert.deepEqual(endsOf(world.recorded).sort(), ['changed', 'ended']);
    const began = world.recorded.toSorted((a, b) => a.beganAt - b.beganAt || a.n - b.n);
    const [one, two] = [...new Set(began.map(({ recording }) => recording))].map((id) =>
      began.filter(({ recording, bytes }) => recording === id && bytes.length > 0),
    );
    assert.deepEqual(
      one?.map(({ n, isDiscontinuity }) => [n, isDiscontinuity]),
      [
        [0, false],
        [1, true],
      ],
    );
    assert.equal(videoOf(one ?? []).frames, 300);
    assert.deepEqual(videoOf(two ?? []).beganAt, 0);
    assert.equal(videoOf(two ?? []).frames, 120);
  });

  test('a recording waits while control is away, and the next process sends what a killed process left', async (t) => {
    const world = await startLiveWorld(t);
    world.setSite({ records: true });
    world.control.isAway = true;
    await publish(world, 'a', 15_000);
    await eventually('a piece is whole, and the next one has all parts but one', () => {
      const open = world.spooled().find((name) => name.endsWith('/1.open'));
      const piece = open && readPiece(readFileSync(join(world.spoolDirectory, open)));
      return piece && piece.durationMs > 4_750;
    });
    const left = join(temporaryFolder(t), 'left');
    cpSync(world.spoolDirectory, left, { recursive: true }); // what there is at any moment is what a kill leaves
    const next = await startLiveWorld(t, { spoolDirectory: left });
    await eventually('it is told', () => endsOf(next.recorded).join() === 'crashed');
    const { frames: kept } = videoOf(next.recorded.filter(({ bytes }) => bytes.length > 0));
    // 200 ms at 30 frames are six or seven.
    assert.ok(kept >= 450 - 9, `${kept} of 450 frames`);
    await eventually('the spool is empty', () => next.spooled().length === 0);
  });

  test('a recording stops when there is no room, while viewers watch on; control is notified', async (t) => {
    const world = await startLiveWorld(t, { recordSpool: 20_000 });
    world.setSite({ records: true });
    world.control.isAway = true;
    const publisher = await publish(world, 'a', 30_000);
    const viewer = await world.openFlv('a');
    let seen = 0;
    viewer.on('data', (chunk: Buffer) => {
      seen += chunk.length;
    });
    await eventually(
      'it has stopped',
      async () => (await world.metric('causeway_live_recordings_stopped_total', { end: 'full' })) > 0,
    );
    const before = seen;
    send(publisher, 30_000, 34_000, []);
    await eventually('the viewer goes on', () => seen > before);
    assert.equal(world.states.get('a'), 'live');
    world.control.isAway = false;
    await eventually('control is told', () => endsOf(world.recorded)[0] === 'full');
    assert.ok(videoOf(world.recorded.filter(({ bytes }) => bytes.length > 0)).frames > 0);
  });
});
