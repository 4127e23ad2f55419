import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManualTimers } from '../../test/support/timers.ts';
import { FLV_ENCODING } from './flv-encoding.ts';
import { HUB_LIMITS, Hub } from './hub.ts';
import { describeMedia } from './media/describe.ts';
import { FlvReader } from './media/flv.ts';
import type { MediaMessage } from './media/message.ts';

/** A payload of `sizeBytes` that names the message, behind the header bytes of AVC and AAC. */
function body(header: readonly number[], id: number, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(header.length + Math.max(4, sizeBytes));
  bytes.set(header);
  bytes.writeUInt32BE(id, header.length);
  return bytes;
}
const video = (isKey: boolean, timestampMs: number, id: number, sizeBytes = 4): MediaMessage => ({
  kind: 'video',
  timestampMs,
  data: body([isKey ? 0x17 : 0x27, 1, 0, 0, 0], id, sizeBytes),
});
const audio = (timestampMs: number, id: number, sizeBytes = 4): MediaMessage => ({
  kind: 'audio',
  timestampMs,
  data: body([0xaf, 1], id, sizeBytes),
});
const videoHeader = (id: number): MediaMessage => ({
  kind: 'video',
  timestampMs: 0,
  data: body([0x17, 0, 0, 0, 0], id, 4),
});
const audioHeader = (id: number): MediaMessage => ({ kind: 'audio', timestampMs: 0, data: body([0xaf, 0], id, 4) });
const metadata: MediaMessage = {
  kind: 'data',
  timestampMs: 0,
  data: Buffer.from('\x02\x00\x0aonMetaData\x05', 'latin1'),
};

/** `m` metadata, `V`/`A` sequence headers, `k` key frame, `v` other frame, `a` sound, each with its number. */
function nameOf(message: MediaMessage): string {
  const facts = describeMedia(message);
  if (message.kind === 'data') return 'm';
  const letter = message.kind === 'video' ? (facts.isKeyFrame ? 'k' : 'v') : 'a';
  return `${facts.isSequenceHeader ? letter.replace('k', 'v').toUpperCase() : letter}${message.data.readUInt32BE(facts.payloadOffset)}`;
}

class TestViewer {
  readonly encoding = FLV_ENCODING;
  readonly #reader = new FlvReader();
  readonly got: MediaMessage[] = [];
  writes = 0;
  queuedBytes = 0;
  maxQueuedBytes = 0;
  ended: 'end' | 'cut' | undefined;
  flags: number | undefined;
  audience = 1;
  /** What is written is taken at once. */
  isFast = true;

  write(bytes: Buffer): void {
    assert.equal(this.ended, undefined);
    this.flags ??= bytes[4];
    this.writes++;
    this.got.push(...this.#reader.push(bytes));
    if (!this.isFast) this.queuedBytes += bytes.length;
    this.maxQueuedBytes = Math.max(this.maxQueuedBytes, this.queuedBytes);
  }

  end(): void {
    this.ended = 'end';
  }

  cut(): void {
    this.ended = 'cut';
  }

  get names(): string {
    return this.got.map(nameOf).join(' ');
  }
}

/** `soon`: by default each message is an event of its own. */
function createHub(limits: Partial<typeof HUB_LIMITS> = {}, soon = (run: () => void) => run()) {
  const timers = createManualTimers();
  const hub = new Hub({ limits: { ...HUB_LIMITS, ...limits }, timers, soon });
  const attach = (isFast = true): TestViewer & { leave: () => void } => {
    const viewer = new TestViewer();
    viewer.isFast = isFast;
    const { detach } = hub.attach(viewer);
    return Object.assign(viewer, { leave: detach });
  };
  const push = (...messages: readonly MediaMessage[]) => {
    for (const message of messages) hub.push(message);
  };
  return { hub, timers, attach, push };
}

const BEGIN = [metadata, videoHeader(1), audioHeader(1)];

describe('where a viewer begins', () => {
  const rows: readonly (readonly [what: string, before: readonly MediaMessage[], got: string])[] = [
    [
      'at the last key frame',
      [...BEGIN, video(true, 0, 1), audio(5, 2), video(true, 40, 3), audio(45, 4)],
      'm V1 A1 k3 a4 v9 k10 a11',
    ],
    ['before any message', [], 'k10 a11'],
    ['before the first frame', BEGIN, 'm V1 A1 k10 a11'],
    ['before the first key frame', [...BEGIN, video(false, 0, 1)], 'm V1 A1 k10 a11'],
    ['with sound alone', [metadata, audioHeader(1), audio(0, 1)], 'm A1 k10 a11'],
    [
      'after a group of pictures that is too long',
      [...BEGIN, video(true, 0, 1), video(false, 10_001, 2)],
      'm V1 A1 k10 a11',
    ],
    ['with sound when pictures have stopped', [...BEGIN, video(true, 0, 1), audio(10_001, 2)], 'm V1 A1 k10 a11'],
    [
      'after parameters other than those of the group',
      [...BEGIN, video(true, 0, 1), videoHeader(2)],
      'm V2 A1 k10 a11',
    ],
    [
      'in a group whose parameters were repeated',
      [...BEGIN, video(true, 0, 1), videoHeader(1)],
      'm V1 A1 k1 v9 k10 a11',
    ],
  ];
  for (const [what, before, got] of rows) {
    test(`a viewer begins ${what}`, () => {
      const { attach, push } = createHub();
      push(...before);
      const viewer = attach();
      push(video(false, 50, 9), video(true, 60, 10), audio(65, 11));
      assert.equal(viewer.names, got);
    });
  }

  test('a viewer of sound alone begins at once', () => {
    const { attach, push } = createHub();
    push(metadata, audioHeader(1), audio(0, 1));
    const viewer = attach();
    push(audio(20, 2), audio(40, 3));
    assert.equal(viewer.names, 'm A1 a2 a3');
    assert.equal(viewer.flags, 4);
  });

  test('a group of pictures with too many bytes is dropped, and its memory is released', () => {
    const { attach, push } = createHub({ maxGopBytes: 10_000 });
    push(...BEGIN, video(true, 0, 1, 5000), video(false, 40, 2, 6000));
    assert.equal(attach().names, '');
    push(video(true, 80, 3));
    assert.equal(attach().names, 'm V1 A1 k3');
  });

  test('the file header names the tracks; metadata is at 0, sequence headers are at the first frame', () => {
    const { attach, push } = createHub();
    push({ ...metadata, timestampMs: 5000 }, videoHeader(1), video(true, 7000, 1));
    const viewer = attach();
    assert.equal(viewer.flags, 1);
    assert.deepEqual(
      viewer.got.map(({ timestampMs }) => timestampMs),
      [0, 7000, 7000],
    );
  });

  test('a viewer that joins does not disturb the others', () => {
    const { attach, push } = createHub();
    push(...BEGIN, video(true, 0, 1));
    const first = attach();
    const { writes } = first;
    for (let count = 0; count < 60; count++) attach();
    assert.equal(first.writes, writes);
    push(video(false, 40, 2));
    assert.equal(first.names, 'm V1 A1 k1');
  });
});

describe('merged writes', () => {
  const limits = { mergeAbove: 2 };

  test('merged writes begin with one viewer more than the limit, and a joining viewer misses and repeats nothing', () => {
    const { attach, push, timers } = createHub(limits);
    push(...BEGIN, video(true, 0, 1));
    const viewers = [attach(), attach()];
    push(video(false, 40, 2));
    assert.equal(viewers[0]?.names, 'm V1 A1 k1 v2');
    viewers.push(attach());
    push(video(false, 80, 3), audio(85, 4));
    assert.equal(viewers[0]?.names, 'm V1 A1 k1 v2');
    viewers.push(attach());
    push(audio(100, 5), video(true, 120, 6), audio(121, 7));
    viewers.push(attach());
    const writes = viewers[0]?.writes ?? 0;
    timers.advance(HUB_LIMITS.mergeMs);
    push(audio(130, 8));
    timers.advance(HUB_LIMITS.mergeMs);
    const all = 'm V1 A1 k1 v2 v3 a4 a5 k6 a7 a8';
    assert.deepEqual(
      viewers.map(({ names }) => names),
      [all, all, all, all, 'm V1 A1 k6 a7 a8'],
    );
    assert.equal(viewers[0]?.writes, writes + 2);
    assert.equal(timers.size, 0);
  });

  test('writes to one viewer are merged while it writes on to more than the limit', () => {
    const { attach, push, timers } = createHub(limits);
    const relay = attach();
    push(video(true, 0, 1));
    assert.equal(relay.names, 'k1');
    relay.audience = 3;
    push(video(false, 40, 2), audio(45, 3));
    assert.equal(relay.names, 'k1');
    timers.advance(HUB_LIMITS.mergeMs);
    assert.deepEqual([relay.names, relay.writes], ['k1 v2 a3', 3]); // the first of them is the file header
    relay.audience = 2;
    push(video(false, 80, 4));
    assert.equal(relay.names, 'k1 v2 a3 v4');
  });

  test('merged writes are sent at the end, and no timer remains', () => {
    for (const how of ['end', 'cut'] as const) {
      const { hub, attach, push, timers } = createHub({ mergeAbove: 0 });
      push(...BEGIN, video(true, 0, 1));
      const viewer = attach();
      push(video(false, 40, 2));
      hub[how]();
      assert.deepEqual([viewer.ended, viewer.names.endsWith('v2')], [how, how === 'end']);
      assert.deepEqual([hub.viewers, timers.size], [0, 0]);
    }
  });
});

test('messages that arrive together are one write, also for few viewers', () => {
  const due: (() => void)[] = [];
  const { hub, attach, push } = createHub({}, (run) => due.push(run));
  const endEvent = () => {
    for (const run of due.splice(0)) run();
  };
  push(...BEGIN, video(true, 0, 1));
  const early = attach();
  const before = early.writes;
  push(audio(20, 2), video(false, 40, 3));
  const late = attach();
  push(audio(41, 4));
  endEvent();
  assert.deepEqual([early.writes - before, early.names], [1, 'm V1 A1 k1 a2 v3 a4']);
  assert.equal(late.names, early.names);
  push(audio(60, 5));
  hub.end();
  endEvent();
  assert.deepEqual([early.names, early.ended], ['m V1 A1 k1 a2 v3 a4 a5', 'end']);
});

describe('a slow viewer', () => {
  test('a slow viewer misses messages from the limit to a key frame', () => {
    const { attach, push } = createHub({ maxQueuedBytes: 1000 });
    const viewer = attach(false);
    push(...BEGIN, video(true, 0, 1, 990), video(false, 40, 2), video(true, 80, 3), audio(85, 4));
    viewer.queuedBytes = 501;
    push(video(true, 120, 5)); // more than half of the limit still waits
    viewer.queuedBytes = 400;
    push(video(false, 160, 6), audioHeader(2), audio(165, 7), video(true, 200, 8), video(false, 240, 9));
    assert.equal(viewer.names, 'm V1 A1 k1 m V1 A2 k8 v9');
  });

  test('a slow viewer of a low bit rate misses messages by time', () => {
    const { attach, push, timers } = createHub();
    push(metadata, audioHeader(1));
    const viewer = attach(false);
    for (let at = 0; at <= 12_000; at += 1000) {
      push(audio(at, at));
      timers.advance(1000);
      viewer.queuedBytes -= at > 3000 ? 1 : 0; // takes a little, so it has not stalled
    }
    assert.match(viewer.names, / a8000$/);
  });

  test('a viewer that reads nothing for 20 s is cut; one that reads a byte is not', () => {
    const { hub, attach, push, timers } = createHub();
    push(...BEGIN, video(true, 0, 1));
    const [stalled, slow] = [attach(false), attach(false)];
    for (let at = 0; at < 21_000; at += 1000) {
      push(video(false, at, at));
      slow.queuedBytes -= 1;
      timers.advance(1000);
      if (at < 19_000) assert.equal(stalled.ended, undefined);
    }
    assert.deepEqual([stalled.ended, slow.ended, hub.viewers], ['cut', undefined, 1]);
  });

  test('a viewer that has left is sent nothing more', () => {
    const { hub, attach, push } = createHub();
    push(...BEGIN, video(true, 0, 1));
    const viewer = attach();
    viewer.leave();
    viewer.leave();
    push(video(false, 40, 2));
    hub.end();
    assert.deepEqual([viewer.names, viewer.ended, hub.viewers], ['m V1 A1 k1', undefined, 0]);
  });

  test('a slow viewer misses tiny messages by their number', () => {
    const { attach, push } = createHub();
    push(...BEGIN, video(true, 0, 1));
    const viewer = attach(false);
    for (let id = 0; id < 20_000; id++) push(audio(1, id, 1));
    assert.ok(viewer.writes < 8_300, `${viewer.writes}`);
  });

  test('forty stalled viewers at 42 Mbit/s leave the memory for them constant', () => {
    const { attach, push, timers } = createHub();
    push(...BEGIN);
    const viewers = Array.from({ length: 40 }, () => attach(false));
    const frame = 42_000_000 / 8 / 25;
    for (let at = 0; at < 60_000; at += 40) {
      push(video(at % 2000 === 0, at, at, frame));
      timers.advance(40);
    }
    for (const { maxQueuedBytes, ended } of viewers) {
      assert.ok(maxQueuedBytes < HUB_LIMITS.maxQueuedBytes + frame + 1000, `${maxQueuedBytes}`);
      assert.equal(ended, 'cut');
    }
  });
});

/** A small generator of numbers from 0 to 1 (mulberry32), so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test("a viewer's stream can always be decoded, whatever viewers and the publisher do", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const next = random(seed);
    const below = (count: number) => Math.floor(next() * count);
    const { hub, attach, push, timers } = createHub({
      maxQueuedBytes: 3000,
      mergeAbove: below(4),
      maxMergedBytes: 2000,
    });
    const viewers: TestViewer[] = [];
    /** The header under which each frame was published, and the frame's place in its group. */
    const published = new Map<number, { readonly header: number; readonly group: number }>();
    let [id, header, group, at] = [0, 0, 0, 0];
    for (let step = 0; step < 400; step++) {
      const chance = next();
      at += below(50);
      if (header === 0 || chance < 0.02) push(videoHeader(++header), audioHeader(header));
      else if (chance < 0.06) viewers.push(attach(next() < 0.3));
      else if (chance < 0.1) timers.advance(below(60));
      else if (chance < 0.2)
        for (const viewer of viewers) viewer.queuedBytes = Math.max(0, viewer.queuedBytes - below(2500));
      else {
        const isKey = chance < 0.3 || published.get(id)?.header !== header;
        if (isKey) group++;
        published.set(++id, { header, group });
        push(video(isKey, at, id, below(400)));
      }
    }
    hub.end();
    assert.ok(viewers.some(({ got }) => got.length > 10));
    for (const viewer of viewers) assertDecodable(viewer, published, `seed ${seed}`);
  }
});

function assertDecodable(
  { got }: TestViewer,
  published: ReadonlyMap<number, { readonly header: number; readonly group: number }>,
  where: string,
): void {
  let header = 0;
  let last = { id: 0, group: 0 };
  for (const message of got) {
    const facts = describeMedia(message);
    if (message.kind !== 'video') continue;
    const id = message.data.readUInt32BE(facts.payloadOffset);
    if (facts.isSequenceHeader) {
      header = id;
      continue;
    }
    const frame = published.get(id);
    assert.equal(frame?.header, header, `${where}: frame ${id} is decoded with its own header`);
    assert.ok(id > last.id, `${where}: frame ${id} behind ${last.id}`);
    if (!facts.isKeyFrame) {
      assert.deepEqual({ id: id - 1, group: frame?.group }, last, `${where}: frame ${id} follows the one before it`);
    }
    last = { id, group: frame?.group ?? 0 };
  }
}
