/** Reads what a fragment of ours says of its samples, as a player does. */
import assert from 'node:assert/strict';

export interface ReadSample {
  readonly track: number;
  /** Decoding time in ticks of the track. */
  readonly decodeAt: number;
  readonly duration: number;
  readonly composition: number;
  readonly isKey: boolean;
  readonly bytes: number;
}

const CONTAINERS: readonly string[] = ['moof', 'traf', 'moov', 'trak', 'mdia', 'mvex'];
const NOT_SYNC = 0x10000;

/** Path of each box → its contents, in order; fails where a box does not end with its parent. */
export function boxesOf(bytes: Buffer, path = '', found = new Map<string, Buffer[]>()): Map<string, Buffer[]> {
  let at = 0;
  while (at < bytes.length) {
    const size = bytes.readUInt32BE(at);
    assert.ok(size >= 8 && at + size <= bytes.length, `${path}: a box of ${size} bytes at ${at}`);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const content = bytes.subarray(at + 8, at + size);
    found.set(path + type, [...(found.get(path + type) ?? []), content]);
    if (CONTAINERS.includes(type)) boxesOf(content, `${path}${type}/`, found);
    at += size;
  }
  return found;
}

/** The samples of all fragments, in their order. */
export function samplesOf(bytes: Buffer): ReadSample[] {
  const tree = boxesOf(bytes);
  const times = tree.get('moof/traf/tfdt') ?? [];
  const headers = tree.get('moof/traf/tfhd') ?? [];
  return (tree.get('moof/traf/trun') ?? []).flatMap((trun, index) =>
    readTrun(trun, headers[index]?.readUInt32BE(4) ?? 0, Number(times[index]?.readBigUInt64BE(4) ?? 0n)),
  );
}

function readTrun(trun: Buffer, track: number, from: number): ReadSample[] {
  const hasFlags = (trun.readUInt32BE(0) & 0x400) !== 0;
  const rowBytes = hasFlags ? 16 : 8;
  let decodeAt = from;
  return Array.from({ length: trun.readUInt32BE(4) }, (_, index) => {
    const at = 12 + index * rowBytes;
    const sample = {
      track,
      decodeAt,
      duration: trun.readUInt32BE(at),
      bytes: trun.readUInt32BE(at + 4),
      isKey: !hasFlags || (trun.readUInt32BE(at + 8) & NOT_SYNC) === 0,
      composition: hasFlags ? trun.readInt32BE(at + 12) : 0,
    };
    decodeAt += sample.duration;
    return sample;
  });
}
