/** A program: the management interface on a database in the folder it is given, a small file system, which it fills. Prints what it saw. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fillDisk } from '../db/fill-disk.ts';
import { startTestApi } from './api.ts';
import { SETTINGS } from './customers.ts';

const [folder = ''] = process.argv.slice(2);
const filler = join(folder, 'filler');
const cleanups = new AsyncDisposableStack();
const api = await startTestApi({ after: (work) => cleanups.defer(async () => void (await work())) }, async () => ({
  file: join(folder, 'causeway.db'),
}));
const { accessToken } = await api.join('customer', ['cdn']);
const add = (index: number) =>
  api.call('domain.add', accessToken, { ...SETTINGS, domain: `d${index}.example.com`, remark: 'x'.repeat(255) });

fillDisk(filler);
// What is given back to SQLite's files before it is full may hold some more.
let index = 0;
let answer = await add(index);
for (; answer.http === 200 && index < 1_000; index += 1) answer = await add(index + 1);
const full = [];
for (let tries = 0; tries < 5; tries += 1) {
  const { http, errorCode } = await add(index);
  full.push(`${http} ${errorCode}`);
}
const list = await api.call('domain.list', accessToken, {});
const ready = (await fetch(`${api.url}/readyz`)).status;
rmSync(filler);
const after = await add(index);
const reasons = api.logLines.flatMap((line) => JSON.parse(line).err?.message ?? []);
console.log(JSON.stringify({ full, list: list.body['status'], ready, after: after.body['status'], reasons }));
await cleanups.disposeAsync();
