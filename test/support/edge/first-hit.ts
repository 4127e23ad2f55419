/** A program: starts the service by `npm start` with ports of its own, adds a domain, and ends with 0 when its second answer is a hit. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { addDomain } from '../process/service-with-domain.ts';
import { fetchFrom } from './edge.ts';
import { reply, startOrigin } from './origin.ts';

await using cleanups = new AsyncDisposableStack();
const t = { after: (work: () => unknown) => cleanups.defer(async () => void (await work())) };
const dataDir = mkdtempSync(join(tmpdir(), 'causeway-first-hit-'));
const parts = ['CONTROL', 'METRICS', 'EDGE_HTTP', 'EDGE_HTTPS'];
const listen = parts.map((part) => [`CAUSEWAY_${part}_LISTEN`, '127.0.0.1:0']);
const settings = { CAUSEWAY_DATA_DIR: dataDir, CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', CAUSEWAY_EDGE_WORKERS: '1' };
const env = { ...process.env, ...Object.fromEntries(listen), ...settings };
const child = spawn('npm', ['start'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
let said = '';
child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
const ended = once(child, 'close');
/** Covers a first start, which also builds the console, on a machine whose cores are busy with other tests. */
const START_LIMIT_MS = 300_000;
t.after(() => child.kill('SIGTERM') && ended);
await Promise.race([
  eventually('the service is ready', () => said.includes('causeway is ready'), START_LIMIT_MS),
  ended.then(() => Promise.reject(new Error(`it ended: ${said}`))),
]);
const urlOf = (part: string) => new RegExp(`^${part} +(\\S+)`, 'm').exec(said)?.[1] ?? '';
const accessToken = readFileSync(join(dataDir, 'first-token'), 'utf8').trim();
const origin = await startOrigin(t, reply('hello', { 'cache-control': 'max-age=300' }));
await addDomain({ controlUrl: urlOf('control'), token: accessToken }, origin.port);
const answers = [];
for (const path of ['/', '/']) {
  const { headers, body } = await fetchFrom(Number(new URL(urlOf('edge')).port), path);
  answers.push([headers['x-cache'], body]);
}
assert.deepEqual(answers, [
  ['MISS', 'hello'],
  ['HIT', 'hello'],
]);
