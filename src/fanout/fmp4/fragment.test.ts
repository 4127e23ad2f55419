import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boxesOf } from '../../../test/support/live/fragments.ts';
import { readAudioFormat } from './audio-formats.ts';
import { type Sample, writeFragment } from './fragment.ts';
import { initSegment } from './init-segment.ts';

const sample = (told: Partial<Sample>): Sample => ({
  decodeAt: 0,
  duration: 3000,
  composition: 0,
  isKey: false,
  data: Buffer.from('aa', 'hex'),
  ...told,
});

test('a fragment has its samples in rows, followed by their bytes in the same order', () => {
  const video = [
    sample({ decodeAt: 2 ** 32, isKey: true, composition: 6000, data: Buffer.from('one') }),
    sample({ composition: -3000, data: Buffer.from('two') }),
  ];
  const audio = [sample({ decodeAt: 7, duration: 1024, data: Buffer.from('three') })];
  const fragment = writeFragment(9, video, audio);
  const tree = boxesOf(fragment);
  assert.deepEqual(
    [...tree.keys()],
    ['moof', 'moof/mfhd', 'moof/traf', 'moof/traf/tfhd', 'moof/traf/tfdt', 'moof/traf/trun', 'mdat'],
  );
  assert.equal(tree.get('moof/mfhd')?.[0]?.readUInt32BE(4), 9);
  const [videoTrun, audioTrun] = tree.get('moof/traf/trun') ?? [];
  assert.equal(tree.get('moof/traf/tfdt')?.[0]?.readBigUInt64BE(4), 2n ** 32n);
  assert.equal(tree.get('moof/traf/tfdt')?.[1]?.readBigUInt64BE(4), 7n);
  assert.equal(
    videoTrun?.subarray(12).toString('hex'),
    '00000bb8000000030200000000001770' + '00000bb80000000301010000fffff448',
  );
  assert.equal(audioTrun?.subarray(12).toString('hex'), '0000040000000005');
  const at = (trun: Buffer | undefined, length: number) => {
    const from = trun?.readInt32BE(8) ?? 0;
    return fragment.toString('latin1', from, from + length);
  };
  assert.equal(at(videoTrun, 6), 'onetwo');
  assert.equal(at(audioTrun, 5), 'three');
});

test('a track without samples is left out', () => {
  const tree = boxesOf(writeFragment(1, [], [sample({})]));
  assert.equal(tree.get('moof/traf')?.length, 1);
  assert.equal(tree.get('moof/traf/tfhd')?.[0]?.readUInt32BE(4), 2);
});

test('an init segment has the tracks that there are', () => {
  const audio = readAudioFormat('mp4a', Buffer.from('1190', 'hex'));
  const init = initSegment({ video: undefined, audio });
  const tree = boxesOf(init);
  assert.equal(tree.get('moov/trak')?.length, 1);
  assert.equal(tree.get('moov/mvex/trex')?.length, 1);
  assert.equal(tree.get('moov/trak/mdia/mdhd')?.[0]?.readUInt32BE(12), 48_000);
  assert.ok(init.includes(Buffer.from('058080800211900680808001', 'hex')));
});
