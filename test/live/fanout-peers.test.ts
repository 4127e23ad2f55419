/**
 * What ffmpeg encodes goes through our HLS and is read by ffprobe, by ffmpeg's decoders, by mp4box and by hls-parser. HEVC, AV1, VP9 and
 * Opus are wrapped as Enhanced RTMP by the test: no real sender of it was tried.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse, types } from 'hls-parser';
import { answerMedia, answerMultivariant } from '#fanout/hls/delivery.ts';
import { HlsPackager } from '#fanout/hls/packager.ts';
import { describeMedia } from '#fanout/media/describe.ts';
import { FlvReader } from '#fanout/media/flv.ts';
import type { MediaMessage } from '#fanout/media/message.ts';
import { Timeline } from '#fanout/media/timeline.ts';
import { enhancedMessages } from '../support/live/enhanced-flv.ts';
import { decode, type Encoding, encode, type Packet, probe } from '../support/live/ffmpeg.ts';
import { type Mp4Track, readMp4 } from '../support/live/mp4.ts';
import { needs } from '../support/runner/needs.ts';

const PEERS = needs('ffmpeg', 'ffprobe');
const AVC = ['libx264', '-preset', 'ultrafast', '-g', '30'];
const AVC_B = ['libx264', '-preset', 'veryfast', '-bf', '3', '-g', '30'];
const HEVC = ['libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error:keyint=30', '-tag:v', 'hvc1'];
const AV1 = ['libsvtav1', '-preset', '12', '-g', '30', '-svtav1-params', 'lp=2'];
const VP9 = ['libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-g', '30'];

interface Packaged {
  readonly packager: HlsPackager;
  /** The init segment and all segments. */
  readonly file: Buffer;
}

/** Packages messages through the clock and the packager, as the owner of a stream does. */
function packaged(messages: readonly MediaMessage[]): Packaged {
  const packager = new HlsPackager();
  const timeline = new Timeline();
  const pieces: Buffer[] = [];
  let next = 0;
  const collect = () => {
    for (let segment = packager.window.segment(next); segment !== undefined; segment = packager.window.segment(++next))
      pieces.push(...segment.parts.map(({ bytes }) => bytes));
  };
  for (const message of messages) {
    const facts = describeMedia(message);
    packager.push(timeline.place(message, facts, message.timestampMs), facts, message.timestampMs);
    collect();
  }
  packager.end();
  collect();
  assert.equal(packager.window.nextSequence, next);
  return { packager, file: Buffer.concat([packager.window.init(0) ?? Buffer.alloc(0), ...pieces]) };
}

function of(packets: readonly Packet[], kind: Packet['kind']): readonly Packet[] {
  return packets.filter((packet) => packet.kind === kind);
}

/** When each packet is decoded, in milliseconds from the first one. */
function decodedMs(packets: readonly Packet[]): readonly number[] {
  return packets.map(({ dts }) => (dts - (packets[0]?.dts ?? 0)) * 1000);
}

/** Asserts, in ticks as mp4box reads them, that each sample has a duration and begins where the one before ends. */
function assertContinuous({ codec, samples }: Mp4Track): void {
  for (const [index, { dts, duration }] of samples.entries()) {
    assert.ok(duration > 0, `${codec}: sample ${index} lasts no time`);
    const before = samples[index - 1];
    if (before !== undefined) assert.equal(dts, before.dts + before.duration, `${codec}: sample ${index}`);
  }
}

async function assertPlaylists(packager: HlsPackager, codecs: string): Promise<void> {
  const { signal } = new AbortController();
  const variant = await answerMultivariant(packager, 'a/b/media.m3u8', signal);
  const media = await answerMedia(packager, { sequence: undefined, part: undefined, maySkip: false }, signal);
  assert.ok(variant.kind === 'playlist' && media.kind === 'playlist');
  const master = parse(variant.text);
  assert.ok(master instanceof types.MasterPlaylist);
  const [only] = master.variants;
  assert.equal(only?.codecs, codecs);
  assert.ok((only?.bandwidth ?? 0) > 1_000);
  const playlist = parse(media.text);
  assert.ok(playlist instanceof types.MediaPlaylist && playlist.endlist);
  assert.equal(playlist.segments.length, packager.window.listed.length);
  assert.ok(playlist.segments.every((segment) => segment.duration > 0 && segment.map !== undefined));
}

/** Name, how it is encoded, how it is wrapped, `CODECS`, and what ffprobe calls the codecs. */
const CASES: [name: string, encoding: Encoding, wrap: 'flv' | 'enhanced', codecs: string, names: string[]][] = [
  ['H.264 and AAC', { seconds: 3, video: AVC, audio: ['aac'] }, 'flv', 'avc1.42C00B,mp4a.40.2', ['h264', 'aac']],
  [
    'B-frames',
    { seconds: 3, video: AVC_B, audio: ['aac'], sampleRate: 48_000 },
    'flv',
    'avc1.64000B,mp4a.40.2',
    ['h264', 'aac'],
  ],
  ['video only', { seconds: 3, video: AVC, frameRate: 25 }, 'flv', 'avc1.42C00B', ['h264']],
  ['audio only at 44.1 kHz', { seconds: 3, audio: ['aac'] }, 'flv', 'mp4a.40.2', ['aac']],
  ['MP3', { seconds: 3, video: AVC, audio: ['libmp3lame'] }, 'flv', 'avc1.42C00B,mp4a.6B', ['h264', 'mp3']],
  ['HEVC', { seconds: 3, video: HEVC }, 'enhanced', 'hvc1.1.6.L30.90', ['hevc']],
  [
    'AV1 and Opus',
    { seconds: 3, video: AV1, audio: ['libopus'], sampleRate: 48_000 },
    'enhanced',
    'av01.0.00M.08,opus',
    ['av1', 'opus'],
  ],
  ['VP9', { seconds: 3, video: VP9 }, 'enhanced', 'vp09.00.10.08', ['vp9']],
];

describe('streams that ffmpeg encodes are read by other programs out of our HLS', PEERS, () => {
  for (const [name, encoding, wrap, codecs, names] of CASES) {
    test(`${name} of ffmpeg is read by other programs out of our HLS`, async () => {
      const source = await encode(wrap === 'flv' ? 'flv' : 'mp4', encoding);
      const messages = wrap === 'flv' ? new FlvReader().push(source) : enhancedMessages(source);
      const { packager, file } = packaged(messages);
      const [sent, got] = await Promise.all([probe(source), probe(file)]);
      assert.deepEqual(
        got.streams.map((stream) => stream.codec_name),
        names,
      );
      assert.equal(got.complaints, '');
      assert.equal(await decode(file), '');
      const [sentMs, gotMs] = [decodedMs(of(sent.packets, 'video')), decodedMs(of(got.packets, 'video'))];
      assert.equal(gotMs.length, sentMs.length);
      // FLV has whole milliseconds; MP4, from which the enhanced ones come, has not.
      assert.ok(gotMs.every((at, index) => Math.abs(at - (sentMs[index] ?? 0)) < 1.1));
      // Audio that comes before the first key frame is left out.
      const missing = of(sent.packets, 'audio').length - of(got.packets, 'audio').length;
      assert.ok(
        missing === 0 || (missing === 1 && encoding.video !== undefined),
        `${missing} audio frames are missing`,
      );

      const tracks = readMp4(file);
      for (const track of tracks) {
        assertContinuous(track);
        assert.equal(track.samples.length, of(got.packets, track.kind).length);
      }
      await assertPlaylists(packager, codecs);
    });
  }
});

test('sound and picture stay together for minutes at 44.1 kHz', PEERS, async () => {
  const source = await encode('flv', { seconds: 180, video: AVC, audio: ['aac'], size: '64x64', frameRate: 10 });
  const { file } = packaged(new FlvReader().push(source));
  const [sent, got] = await Promise.all([probe(source), probe(file)]);
  for (const kind of ['video', 'audio'] as const) {
    const [before, after] = [of(sent.packets, kind), of(got.packets, kind)];
    const offset = (before.at(-1)?.pts ?? 0) - (after.at(-1)?.pts ?? 0);
    const atStart = (before.at(-after.length)?.pts ?? 0) - (after[0]?.pts ?? 0);
    assert.ok(Math.abs(offset - atStart) < 0.002, `${kind} drifted by ${offset - atStart} s`);
  }
  for (const track of readMp4(file)) assertContinuous(track);
});

test('B-frames are shown at the times that ffmpeg gave them', PEERS, async () => {
  const source = await encode('flv', { seconds: 3, video: AVC_B });
  const { file } = packaged(new FlvReader().push(source));
  const [sent, got] = await Promise.all([probe(source), probe(file)]);
  const shown = (packets: readonly Packet[]) =>
    packets.map(({ pts }) => Math.round((pts - (packets[0]?.pts ?? 0)) * 1000));
  assert.deepEqual(shown(got.packets), shown(sent.packets));
});
