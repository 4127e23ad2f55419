/** What a client gets that asks for playlists, parts and segments: their text, what is waited for and what is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerBytes, answerMedia, answerMultivariant, type PlaylistAnswer } from '#fanout/hls/delivery.ts';
import { type DeliveryDirectives, readDeliveryDirectives, readFileName } from '#fanout/hls/files.ts';
import { OnDemandPackager } from '#fanout/hls/on-demand.ts';
import { HlsPackager } from '#fanout/hls/packager.ts';
import { writeMediaPlaylist } from '#fanout/hls/playlist.ts';
import { describeMedia } from '#fanout/media/describe.ts';
import { aacHeader, avcHeader, feed, frames } from '../support/live/media-messages.ts';

const HEADERS = [avcHeader(), aacHeader()];
const NOTHING: DeliveryDirectives = { sequence: undefined, part: undefined, maySkip: false };
/** Signal that is aborted already: a file that is not there is not waited for. */
const NOW = AbortSignal.abort();

function packaged(untilMs: number, keyFrameMs?: number): HlsPackager {
  const packager = new HlsPackager({ keyFrameMs });
  feed(packager, [...HEADERS, ...frames({ untilMs })], Date.UTC(2026, 0, 1));
  return packager;
}

function textOf(answer: PlaylistAnswer): string {
  assert.equal(answer.kind, 'playlist');
  return answer.kind === 'playlist' ? answer.text : '';
}

async function media(packager: HlsPackager, directives: Partial<DeliveryDirectives> = {}): Promise<string> {
  return textOf(await answerMedia(packager, { ...NOTHING, ...directives }, NOW));
}

test('the multivariant playlist tells bandwidth, codecs, resolution and frame rate', async () => {
  const packager = packaged(5_000);
  const text = textOf(await answerMultivariant(packager, 'a/b1/media.m3u8', NOW));
  const bytes = packager.window.listed.slice(0, 2).flatMap(({ parts }) => parts.map((part) => part.bytes.length));
  const average = Math.ceil((bytes.reduce((sum, length) => sum + length) * 8) / 4);
  assert.match(text, /^#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-STREAM-INF:BANDWIDTH=\d+,/);
  assert.match(text, new RegExp(`,AVERAGE-BANDWIDTH=${average},CODECS="avc1.42C00D,mp4a.40.2",RESOLUTION=320x180,`));
  assert.match(text, /,FRAME-RATE=30\.000\na\/b1\/media\.m3u8\n$/);
});

test('the media playlist lists segments, the parts of the newest, and what comes next', async () => {
  const text = await media(packaged(4_500));
  // Six frames each.
  const parts = (sequence: number, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const independent = index === 0 ? ',INDEPENDENT=YES' : '';
      return `#EXT-X-PART:DURATION=0.20000,URI="${sequence}.${index}.m4s"${independent}`;
    });
  assert.deepEqual(text.split('\n'), [
    '#EXTM3U',
    '#EXT-X-VERSION:9',
    '#EXT-X-TARGETDURATION:2',
    '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12,HOLD-BACK=6,PART-HOLD-BACK=0.61200',
    '#EXT-X-PART-INF:PART-TARGET=0.20400',
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-DISCONTINUITY-SEQUENCE:0',
    '#EXT-X-MAP:URI="init-0.mp4"',
    '#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000Z',
    ...parts(0, 10),
    '#EXTINF:2.00000,',
    '0.m4s',
    '#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:02.000Z',
    ...parts(1, 10),
    '#EXTINF:2.00000,',
    '1.m4s',
    '#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:04.000Z',
    ...parts(2, 2),
    '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="2.2.m4s"',
    '',
  ]);
});

test('the target duration and the part target never change', async () => {
  const packager = packaged(4_000);
  const told = (text: string) => text.split('\n').filter((line) => /PART-TARGET|TARGETDURATION/.test(line));
  const before = told(await media(packager));
  // Frames at another rate, frames that are missing, and a publisher that begins anew.
  feed(packager, frames({ fromMs: 4_000, untilMs: 8_000, frameRate: 7 }));
  const withHole = frames({ fromMs: 8_000, untilMs: 11_000, frameRate: 60 });
  feed(
    packager,
    withHole.filter(({ kind, timestampMs }) => kind === 'audio' || timestampMs < 8_500 || timestampMs > 9_500),
  );
  packager.discontinuity();
  feed(packager, [...HEADERS, ...frames({ fromMs: 11_000, untilMs: 16_000, frameRate: 12 })]);
  assert.deepEqual(told(await media(packager)), before);
});

test('parts are listed within three target durations of the end', async () => {
  const text = await media(packaged(13_900));
  const listed = [...text.matchAll(/^#EXT-X-PART:.*URI="(\d+)\.0\./gm)].map(([, sequence]) => Number(sequence));
  // The end is at 13.86 s, so segment 3, which ends at 8 s, has them still.
  assert.deepEqual(listed, [3, 4, 5, 6]);
});

test('the end of the broadcast ends the playlist', async () => {
  const packager = packaged(4_700);
  packager.end();
  const text = await media(packager, { sequence: 99, part: 7 });
  assert.match(text, /\n2\.m4s\n#EXT-X-ENDLIST\n$/);
  assert.doesNotMatch(text, /PRELOAD-HINT/);
  assert.equal((await answerMedia(new HlsPackager(), NOTHING, NOW)).kind, 'notYet');
  const empty = new HlsPackager();
  empty.end();
  assert.equal((await answerMedia(empty, NOTHING, NOW)).kind, 'none');
});

test('a delta update leaves out what lies before the skip boundary, and nothing else', () => {
  const clock = { offsetMs: 0, isFixed: true };
  const part = { durationMs: 2_000, isIndependent: true, videoFrames: 1, bytes: Buffer.alloc(1) };
  const segments = Array.from({ length: 9 }, (_, index) => ({
    sequence: 10 + index,
    init: index === 1 ? 1 : 0,
    isDiscontinuity: index === 1,
    startMs: index * 2_000,
    clock,
    parts: [part],
    durationMs: 2_000,
    isComplete: true,
  }));
  const playlist = {
    segments,
    discontinuitySequence: 0,
    targetSeconds: 2,
    partTargetMs: 2_000,
    next: { sequence: 19, part: 0 },
  };
  const full = writeMediaPlaylist(playlist, false);
  const delta = writeMediaPlaylist(playlist, true);
  // 19 segments' starts are 18 s back; the boundary is 12 s from the end: three segments end before it or at it.
  const [head = '', tail = ''] = delta.split('#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n');
  assert.ok(full.startsWith(head) && full.endsWith(tail));
  assert.equal(full.length - head.length - tail.length, full.indexOf('12.m4s\n') + '12.m4s\n'.length - head.length);
  assert.doesNotMatch(writeMediaPlaylist({ ...playlist, segments: segments.slice(3) }, true), /SKIP:/);
});

/** A playlist whose newest segment is 2, with parts 0 and 1. Part 0 of segment 2 stands for part 10 of segment 1. */
const RELOADS: [query: string, expected: PlaylistAnswer['kind'] | 'bad'][] = [
  ['', 'playlist'],
  ['_HLS_msn=1', 'playlist'],
  ['_HLS_msn=2', 'notYet'],
  ['_HLS_msn=2&_HLS_part=1', 'playlist'],
  ['_HLS_msn=1&_HLS_part=10', 'playlist'],
  ['_HLS_msn=1&_HLS_part=99', 'playlist'],
  ['_HLS_msn=2&_HLS_part=2', 'notYet'],
  ['_HLS_msn=2&_HLS_part=15', 'notYet'],
  ['_HLS_msn=2&_HLS_part=16', 'tooFar'],
  ['_HLS_msn=3&_HLS_part=0', 'notYet'],
  ['_HLS_msn=3&_HLS_part=13', 'notYet'],
  ['_HLS_msn=3&_HLS_part=14', 'tooFar'],
  ['_HLS_msn=4&_HLS_part=14', 'tooFar'],
  ['_HLS_msn=4', 'notYet'],
  ['_HLS_msn=5', 'tooFar'],
  ['_HLS_msn=5&_HLS_part=0', 'tooFar'],
  ['_HLS_part=1', 'bad'],
  ['_HLS_msn=-1', 'bad'],
  ['_HLS_msn=1.5', 'bad'],
  ['_HLS_msn=', 'bad'],
  ['_HLS_msn=1&_HLS_part=x', 'bad'],
  ['_HLS_msn=99999999999999999999', 'bad'],
];

test('a reload is answered, held or refused by its directives', async () => {
  const packager = packaged(4_500);
  for (const [query, expected] of RELOADS) {
    const directives = readDeliveryDirectives(new URLSearchParams(query));
    const kind = directives === undefined ? 'bad' : (await answerMedia(packager, directives, NOW)).kind;
    assert.equal(kind, expected, query);
  }
  assert.equal(readDeliveryDirectives(new URLSearchParams('_HLS_skip=YES'))?.maySkip, true);
  assert.equal(readDeliveryDirectives(new URLSearchParams('_HLS_skip=no'))?.maySkip, false);
});

test('a held reload is answered by the part that it waits for, also when the segment ends before it', async () => {
  const packager = packaged(4_000);
  const { signal } = new AbortController();
  // Segment 1 is not complete: its last part comes with the next key frame.
  const [newest] = [packager.window.newest];
  const parts = newest?.parts.length ?? 0;
  const waiting = [
    answerMedia(packager, { ...NOTHING, sequence: 1, part: parts }, signal),
    answerMedia(packager, { ...NOTHING, sequence: 1, part: parts + 1 }, signal),
  ];
  feed(packager, frames({ fromMs: 4_000, untilMs: 4_040 }));
  assert.match(
    textOf(await (waiting[0] ?? assert.fail())),
    /\n1\.m4s\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI="2\.0\.m4s"\n$/,
  );
  feed(packager, frames({ fromMs: 4_040, untilMs: 4_700 }));
  assert.match(textOf(await (waiting[1] ?? assert.fail())), /"2\.0\.m4s"/);
});

test('the part of the preload hint is waited for; one that never comes is absent', async () => {
  const packager = packaged(4_500);
  const { signal } = new AbortController();
  const next = answerBytes(packager, { kind: 'part', sequence: 2, part: 2 }, signal);
  assert.equal(await answerBytes(packager, { kind: 'part', sequence: 2, part: 3 }, signal), undefined);
  feed(packager, frames({ fromMs: 4_500, untilMs: 4_700 }));
  assert.deepEqual(await next, [packager.window.part(2, 2)?.bytes]);

  const never = answerBytes(packager, { kind: 'part', sequence: 2, part: 3 }, signal);
  packager.end();
  feed(packager, frames({ fromMs: 4_700, untilMs: 9_000 }));
  assert.equal((await never)?.length, 1);
  assert.equal(await answerBytes(packager, { kind: 'part', sequence: 2, part: 4 }, signal), undefined);
});

test('a segment is its parts, and an init segment is there as long as one names it', async () => {
  const packager = packaged(4_700);
  const pieces = await answerBytes(packager, { kind: 'segment', sequence: 1 }, NOW);
  assert.deepEqual(
    pieces,
    packager.window.listed[1]?.parts.map(({ bytes }) => bytes),
  );
  assert.equal(await answerBytes(packager, { kind: 'segment', sequence: 2 }, NOW), undefined);
  assert.equal((await answerBytes(packager, { kind: 'init', number: 0 }, NOW))?.length, 1);
  assert.equal(await answerBytes(packager, { kind: 'init', number: 1 }, NOW), undefined);
});

test('the first playlist waits for a segment, a reload with directives for its part', async () => {
  assert.equal((await answerMedia(packaged(1_000), NOTHING, NOW)).kind, 'notYet');
  assert.equal((await answerMedia(packaged(1_000, 4_000), NOTHING, NOW)).kind, 'notYet');
  const waiting = new HlsPackager({ keyFrameMs: 4_000 });
  const { signal } = new AbortController();
  const part = answerMedia(waiting, { ...NOTHING, sequence: 0, part: 0 }, signal);
  const first = answerMedia(waiting, NOTHING, signal);
  feed(waiting, [...HEADERS, ...frames({ untilMs: 4_400, keyFrameMs: 4_000 })]);
  assert.match(textOf(await part), /#EXT-X-TARGETDURATION:4\n/);
  assert.match(textOf(await first), /\n0\.m4s\n/);
});

test('an aborted wait ends, and leaves nothing behind', async () => {
  const packager = packaged(4_700);
  const controller = new AbortController();
  const answer = answerMedia(packager, { ...NOTHING, sequence: 3 }, controller.signal);
  controller.abort();
  assert.deepEqual(await answer, { kind: 'notYet' });
});

test('file names are read as they are written', () => {
  const rows: [name: string, expected: unknown][] = [
    ['index.m3u8', { kind: 'multivariant' }],
    ['media.m3u8', { kind: 'media' }],
    ['init-3.mp4', { kind: 'init', number: 3 }],
    ['12.m4s', { kind: 'segment', sequence: 12 }],
    ['12.3.m4s', { kind: 'part', sequence: 12, part: 3 }],
    ['12.3.4.m4s', undefined],
    ['-1.m4s', undefined],
    ['init-.mp4', undefined],
    ['9999999999.m4s', undefined],
    ['x', undefined],
  ];
  for (const [name, expected] of rows) assert.deepEqual(readFileName(name), expected, name);
});

test('a stream is packaged from the first request on, until requests cease', () => {
  const replayed = [...HEADERS, ...frames({ untilMs: 1_000 })];
  const onDemand = new OnDemandPackager({ packager: new HlsPackager(), replay: () => replayed });
  const push = (fromMs: number, untilMs: number) => {
    for (const message of frames({ fromMs, untilMs }))
      onDemand.push(message, describeMedia(message), message.timestampMs);
  };
  push(0, 1_000);
  assert.equal(onDemand.isAsked, false);
  const packager = onDemand.ask(1_000);
  assert.equal(packager.window.newest?.sequence, 0);
  push(1_000, 20_000);
  onDemand.ask(20_000);
  push(20_000, 49_000);
  assert.equal(onDemand.isAsked, true);
  push(49_000, 51_000);
  assert.equal(onDemand.isAsked, false);
  assert.equal(packager.bytesHeld, 0);
  const before = packager.window.nextSequence;
  onDemand.ask(90_000);
  assert.equal(packager.window.newest?.sequence, before);
  assert.equal(packager.window.newest?.isDiscontinuity, true);
});

test('a packager that is held continues without requests, even after its media was dropped', () => {
  const onDemand = new OnDemandPackager({ packager: new HlsPackager(), replay: () => HEADERS });
  const push = (fromMs: number, untilMs: number) => {
    for (const message of frames({ fromMs, untilMs }))
      onDemand.push(message, describeMedia(message), message.timestampMs);
  };
  onDemand.hold(0);
  push(0, 60_000);
  assert.equal(onDemand.isAsked, false);
  const { window } = onDemand.ask(60_000);
  const before = window.nextSequence;
  assert.ok(before > 20, `${before} segments`);
  onDemand.stop();
  assert.equal(window.bytesHeld, 0);
  push(60_000, 63_000);
  assert.ok(window.nextSequence > before);
  onDemand.release();
  assert.equal(window.bytesHeld, 0);
});
