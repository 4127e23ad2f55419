/** A program: a storm of messages in the folder that it is given, a small file system, which it fills; and in how many rounds. Prints what customers were answered. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fillDisk } from '../db/fill-disk.ts';
import { stormSms } from './sms-storm.ts';

const [folder = '', rounds = ''] = process.argv.slice(2);
const filler = join(folder, 'filler');
await using cleanups = new AsyncDisposableStack();
const t = { after: (work: () => unknown) => cleanups.defer(async () => void (await work())) };
const disk = { fill: () => fillDisk(filler), free: () => rmSync(filler, { force: true }) };
console.log(JSON.stringify(await stormSms(t, { dataDir: join(folder, 'data'), rounds: Number(rounds), disk })));
