/** Moves fragments to an earlier time, so that a recording cut out of a broadcast begins at 0. Pure. */

/** Reads the ticks per second of each track by its number, from an init segment of `init-segment.ts`. */
export function readTimeScales(init: Buffer): ReadonlyMap<number, number> {
  const scales = new Map<number, number>();
  for (const moov of boxes(init, 'moov'))
    for (const trak of boxes(moov, 'trak')) {
      const [tkhd] = boxes(trak, 'tkhd');
      const [mdhd] = boxes(trak, 'mdia').flatMap((mdia) => boxes(mdia, 'mdhd'));
      // Version 0 of both boxes: flags, two times of 32 bits, then the number.
      if (tkhd !== undefined && mdhd !== undefined) scales.set(tkhd.readUInt32BE(12), mdhd.readUInt32BE(12));
    }
  return scales;
}

/** Moves the fragment by `earlierMs`, in place. Times before 0 become 0. */
export function moveFragment(fragment: Buffer, scales: ReadonlyMap<number, number>, earlierMs: number): void {
  for (const moof of boxes(fragment, 'moof'))
    for (const traf of boxes(moof, 'traf')) {
      const [tfhd] = boxes(traf, 'tfhd');
      const [tfdt] = boxes(traf, 'tfdt');
      const scale = tfhd && scales.get(tfhd.readUInt32BE(4));
      if (scale === undefined || tfdt === undefined) continue;
      const moved = tfdt.readBigUInt64BE(4) - BigInt(Math.round((earlierMs * scale) / 1000));
      tfdt.writeBigUInt64BE(moved < 0n ? 0n : moved, 4);
    }
}

/** Returns the contents of the boxes of a type. */
function boxes(content: Buffer, type: string): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 8 <= content.length; ) {
    const size = content.readUInt32BE(at);
    if (size < 8 || at + size > content.length) break;
    if (content.toString('latin1', at + 4, at + 8) === type) found.push(content.subarray(at + 8, at + size));
    at += size;
  }
  return found;
}
