/** A program: keeps live events in the folder it is given, a small file system, which it fills. Prints what it saw. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { LiveFile } from '../../../src/live/live-file.ts';
import { fillDisk } from '../db/fill-disk.ts';

const [folder = ''] = process.argv.slice(2);
const filler = join(folder, 'filler');
const path = join(folder, 'live', 'live.db');
const told: string[] = [];
const options = {
  onMoved: (to: string) => told.push(`moved ${to}`),
  onLost: () => told.push('lost'),
  onRestored: () => told.push('restored'),
};
const event = (index: number) =>
  ({
    kind: 'began',
    domainId: 7,
    app: 'live',
    stream: `s${index}`,
    broadcast: `b${index}`,
    at: index,
    source: 'publish',
    address: 'x'.repeat(255),
  }) as const;

const file = new LiveFile(path, options);
const { epoch } = file;
fillDisk(filler);
let index = 0;
for (; index < 200; index++) file.append(event(index));
file.saveLastMedia([]);
const listed = file.listEvents(1_000).length;
const isAnotherEpoch = file.epoch !== epoch;
rmSync(filler);
file.saveLastMedia([]);
file.append({ ...event(0), kind: 'ended', reason: 'unpublished', at: index });
file[Symbol.dispose]();
using again = new LiveFile(path, options);
const reopened = again.listEvents(1_000).filter((one) => one.kind === 'began' || one.reason !== 'crashed').length;
console.log(JSON.stringify({ told, listed, isAnotherEpoch, reopened }));
