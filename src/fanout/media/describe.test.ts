import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeMedia, type MediaFacts } from './describe.ts';

type Row = [name: string, kind: 'audio' | 'video' | 'data', hex: string, expected: Partial<MediaFacts>];

const frame = { isSequenceHeader: false, isKeyFrame: false, compositionMs: 0, isIgnored: false };
const key = { ...frame, isKeyFrame: true };
const header = { ...frame, isSequenceHeader: true };
const ignored = { isIgnored: true, isSequenceHeader: false, isKeyFrame: false };
const hex = (text: string) => Buffer.from(text, 'latin1').toString('hex');

const ROWS: Row[] = [
  ['AVC configuration', 'video', '17 00 000000 01', { ...header, codec: 'avc1', payloadOffset: 5 }],
  ['AVC key frame', 'video', '17 01 000050 aa', { ...key, codec: 'avc1', compositionMs: 80, payloadOffset: 5 }],
  ['AVC frame, negative offset', 'video', '27 01 ffffd8 aa', { ...frame, codec: 'avc1', compositionMs: -40 }],
  ['AVC end of sequence', 'video', '17 02 000000', ignored],
  ['AVC without a frame', 'video', '27 01 000000', ignored],
  ['AVC cut short', 'video', '17 01 00', ignored],
  ['HEVC by id 12', 'video', '1c 01 000000 aa', { ...key, codec: 'hvc1', payloadOffset: 5 }],
  ['a command frame', 'video', '57 00', ignored],
  ['Sorenson key frame', 'video', '12 aa', { ...key, codec: 'flv-video-2', payloadOffset: 1 }],
  ['extended HEVC configuration', 'video', `90 ${hex('hvc1')} 01`, { ...header, codec: 'hvc1', payloadOffset: 5 }],
  ['extended HEVC key frame', 'video', `91 ${hex('hvc1')} 000021 aa`, { ...key, compositionMs: 33, payloadOffset: 8 }],
  ['extended HEVC without offset', 'video', `a3 ${hex('hvc1')} aa`, { ...frame, codec: 'hvc1', payloadOffset: 5 }],
  ['extended AV1 key frame', 'video', `91 ${hex('av01')} aa`, { ...key, codec: 'av01', payloadOffset: 5 }],
  ['extended VP9 frame', 'video', `a1 ${hex('vp09')} aa`, { ...frame, codec: 'vp09', payloadOffset: 5 }],
  ['extended end of sequence', 'video', `92 ${hex('av01')}`, ignored],
  ['extended metadata', 'video', `94 ${hex('av01')} 02`, ignored],
  ['extended multitrack', 'video', `96 01 ${hex('av01')} 00 aa`, ignored],
  ['extended command', 'video', 'd1 00', ignored],
  ['extended, cut in the FourCC', 'video', '91 617630', ignored],
  ['extended HEVC, cut in the offset', 'video', `91 ${hex('hvc1')} 0000`, ignored],
  ['a nanosecond modifier', 'video', `97 02 000001 01 ${hex('av01')} aa`, { ...key, codec: 'av01', payloadOffset: 10 }],
  ['two modifiers', 'video', `a7 00 01 07 00 02 01 ${hex('av01')} aa`, { ...frame, codec: 'av01', payloadOffset: 11 }],
  ['a modifier that is cut short', 'video', '97 ff 00', ignored],
  ['AAC configuration', 'audio', 'af 00 1210', { ...header, codec: 'mp4a', payloadOffset: 2 }],
  ['AAC frame', 'audio', 'af 01 aa', { ...frame, codec: 'mp4a', payloadOffset: 2 }],
  ['AAC without a frame', 'audio', 'af 01', ignored],
  ['MP3', 'audio', '2f fffb', { ...frame, codec: '.mp3', payloadOffset: 1 }],
  ['G.711', 'audio', '7f aa', { ...frame, codec: 'flv-audio-7', payloadOffset: 1 }],
  ['extended Opus configuration', 'audio', `90 ${hex('Opus')} aa`, { ...header, codec: 'Opus', payloadOffset: 5 }],
  ['extended Opus frame', 'audio', `91 ${hex('Opus')} aa`, { ...frame, codec: 'Opus', payloadOffset: 5 }],
  ['extended channel order', 'audio', `94 ${hex('Opus')} 00`, ignored],
  ['extended multitrack audio', 'audio', `95 01 ${hex('Opus')} 00`, ignored],
  ['metadata', 'data', `02 000a ${hex('onMetaData')} 08`, { isMetadata: true, isIgnored: false }],
  ['other data', 'data', `02 000b ${hex('onTextDataX')} 08`, { isMetadata: false, isIgnored: false }],
  ['nothing', 'video', '', ignored],
  ['no data', 'data', '', ignored],
];

test('the header bytes of a message identify its contents', () => {
  for (const [name, kind, bytes, expected] of ROWS) {
    const data = Buffer.from(bytes.replaceAll(' ', ''), 'hex');
    const facts = describeMedia({ kind, timestampMs: 0, data });
    assert.deepEqual({ ...facts, ...expected }, facts, name);
  }
});

test('any bytes are described, and a payload that is not ignored is not empty', () => {
  const kinds = fc.constantFrom('audio' as const, 'video' as const, 'data' as const);
  fc.assert(
    fc.property(kinds, fc.uint8Array({ maxLength: 40 }), (kind, bytes) => {
      const facts = describeMedia({ kind, timestampMs: 0, data: Buffer.from(bytes) });
      assert.ok(facts.isIgnored || facts.payloadOffset < bytes.length);
    }),
    { seed: 1, numRuns: 5_000 },
  );
});
