import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAudioFormat } from './audio-formats.ts';
import { readVideoFormat } from './formats.ts';

const SPS_BASELINE = '6742c00dda05067e7c0440000003004000000f03c50aa8';
const SPS_CROPPED = '6764000dacd941519e226c0440000003004000000c83c50a6580';
const SPS_HEVC = '42010101600000030090000003000003003ca00a080c1f3e595952930bc05a020000030002000003003c10';
const HEVC = `0101600000009000000000003cf000fcfdf8f80000 0f 01 a1 0001 002b ${SPS_HEVC}`;
const HEVC_HIGH_TIER = `012220000000b00000000000 99 f000fcfdf8f81900 0f 01 a1 0001 002b ${SPS_HEVC}`;
const AV1_SEQUENCE = '0a0b000000043cfecc02f80040';
const VP9_KEY = '8249834220 13f00b30';

type VideoRow = [name: string, codec: string, config: string, keyFrame: string, expected: string];

/** `expected`: codec, size and frame rate. Configurations are those of x264, x265, SVT-AV1 and libvpx for pictures of 320x180 and 322x182. */
const VIDEO: VideoRow[] = [
  ['AVC', 'avc1', `0142c00dffe10017${SPS_BASELINE}01000468ce0fc8`, '', 'avc1.42C00D 320x180 30'],
  ['AVC, cropped', 'avc1', `0164000dffe1001a${SPS_CROPPED}01000668ebe3cb22c0`, '', 'avc1.64000D 322x182 25'],
  ['AVC of another version', 'avc1', `0242c00dffe10017${SPS_BASELINE}`, '', 'none'],
  ['AVC without parameter sets', 'avc1', '0142c00dffe000', '', 'none'],
  ['AVC, cut short', 'avc1', `0142c00dffe10017${SPS_BASELINE.slice(0, -2)}`, '', 'none'],
  ['AVC, a parameter set that ends early', 'avc1', '0142c00dffe100046742c00d', '', 'none'],
  ['HEVC', 'hvc1', HEVC, '', 'hvc1.1.6.L60.90 320x180 undefined'],
  ['HEVC, main 10 in the high tier', 'hvc1', HEVC_HIGH_TIER, '', 'hvc1.2.4.H153.B0 320x180 25'],
  ['HEVC without parameter sets', 'hvc1', '0101600000009000000000003cf000fcfdf8f800000f00', '', 'none'],
  ['AV1', 'av01', `81000c00${AV1_SEQUENCE}`, '', 'av01.0.00M.08 320x180 undefined'],
  ['AV1, main profile 4.0 high tier 10 bits', 'av01', `8108cc00${AV1_SEQUENCE}`, '', 'av01.0.08H.10 320x180 undefined'],
  ['AV1, the header in the frame', 'av01', '81000c00', `1200${AV1_SEQUENCE}`, 'av01.0.00M.08 320x180 undefined'],
  ['AV1 without a header', 'av01', '81000c00', '1200', 'none'],
  ['VP9', 'vp09', '000b820202020000', VP9_KEY, 'vp09.00.11.08 320x180 undefined'],
  ['VP9 with version and flags', 'vp09', '01000000000b820202020000', VP9_KEY, 'vp09.00.11.08 320x180 undefined'],
  ['VP9, not a key frame', 'vp09', '000b820202020000', '86498342', 'none'],
  ['VVC', 'vvc1', '00', '', 'none'],
];

type AudioRow = [name: string, codec: string, config: string, expected: string];

/** `expected`: codec, rate, channels and samples of the frame `config` where the codec has them in the frame, else of any. */
const AUDIO: AudioRow[] = [
  ['AAC LC 44.1 kHz mono', 'mp4a', '120856e500', 'mp4a.40.2 44100x1'],
  ['AAC LC 48 kHz stereo', 'mp4a', '1190', 'mp4a.40.2 48000x2'],
  ['AAC 7.1', 'mp4a', '11b8', 'mp4a.40.2 48000x8'],
  ['AAC, a rate of its own', 'mp4a', '17802ee090', 'mp4a.40.2 24001x2'],
  ['HE-AAC', 'mp4a', '2b8a0800', 'mp4a.40.5 22050x1'],
  ['AAC, a reserved rate', 'mp4a', '1690', 'none'],
  ['AAC, longer than any', 'mp4a', `1190${'00'.repeat(1023)}`, 'none'],
  ['AAC, cut short', 'mp4a', '12', 'none'],
  ['Opus', 'Opus', '4f707573486561640102380180bb0000000000', 'opus 48000x2'],
  ['Opus without its name', 'Opus', '000102380180bb0000000000', 'none'],
  ['Opus, a mapping that is cut short', 'Opus', '4f707573486561640102380180bb0000000001', 'none'],
  ['MP3', '.mp3', 'fffb9064', 'mp4a.6B 44100x2'],
  ['MP3 mono at 24 kHz', '.mp3', 'fff394c4', 'mp4a.69 24000x1'],
  ['MPEG-1 layer II', '.mp3', 'fffd9064', 'none'],
  ['G.711', 'flv-audio-7', '00', 'none'],
];

test("a video track's configuration has its name, size and frame rate", () => {
  for (const [name, codec, config, keyFrame, expected] of VIDEO) {
    const format = readVideoFormat(codec, bytes(config), bytes(keyFrame));
    const told = format === undefined ? 'none' : `${format.codec} ${format.width}x${format.height} ${format.frameRate}`;
    assert.equal(told, expected, name);
  }
});

test("an audio track's configuration has its name, rate and channels", () => {
  for (const [name, codec, config, expected] of AUDIO) {
    const format = readAudioFormat(codec, bytes(config));
    const told = format === undefined ? 'none' : `${format.codec} ${format.sampleRate}x${format.channels}`;
    assert.equal(told, expected, name);
  }
});

test('the duration of a frame is read', () => {
  const rows: [codec: string, config: string, frame: string, samples: number][] = [
    ['mp4a', '1190', 'aa', 1024],
    ['mp4a', '1194', 'aa', 960],
    ['.mp3', 'fffb9064', 'fffb9064', 1152],
    ['.mp3', 'fff394c4', 'fff394c4', 576],
    ['Opus', '4f707573486561640102380180bb0000000000', 'fc', 960],
    ['Opus', '4f707573486561640102380180bb0000000000', '18', 2880],
    ['Opus', '4f707573486561640102380180bb0000000000', '0d', 960 * 2],
    ['Opus', '4f707573486561640102380180bb0000000000', 'e303', 120 * 3],
    ['Opus', '4f707573486561640102380180bb0000000000', '68', 960],
    // More than 120 ms: not a packet of RFC 6716.
    ['Opus', '4f707573486561640102380180bb0000000000', 'ff3f', 0],
  ];
  for (const [codec, config, frame, samples] of rows)
    assert.equal(readAudioFormat(codec, bytes(config))?.frameSamples(bytes(frame)), samples, `${codec} ${frame}`);
});

test('the content of dOps is big endian', () => {
  const config = readAudioFormat('Opus', bytes('4f707573486561640102380180bb0000feff00'))?.config;
  assert.equal(config?.toString('hex'), '000201380000bb80fffe00');
});

test('any bytes are read to their end or refused', () => {
  const codecs = fc.constantFrom('avc1', 'hvc1', 'av01', 'vp09', 'mp4a', 'Opus', '.mp3');
  const starts = fc.constantFrom(
    '',
    '0142c00dffe10010',
    HEVC.slice(0, 60),
    '81000c000a',
    '4f70757348656164',
    '8249834220',
  );
  fc.assert(
    fc.property(codecs, starts, fc.uint8Array({ maxLength: 80 }), (codec, start, rest) => {
      const config = Buffer.concat([bytes(start), rest]);
      const video = readVideoFormat(codec, config, config);
      assert.ok(video === undefined || (video.width > 0 && video.height > 0));
      const audio = readAudioFormat(codec, config);
      assert.ok(audio === undefined || audio.sampleRate > 0);
    }),
    { seed: 1, numRuns: 5_000 },
  );
});

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}
