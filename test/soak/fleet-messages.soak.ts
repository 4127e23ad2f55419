/** Ten thousand mutations of each message of edges, and as many connections with noise, other ones each time. Goal 7 of docs/fleet.md */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { newPostgres, newSqlite } from '../support/db/databases.ts';
import { ask } from '../support/fleet/ask.ts';
import { type FuzzWorld, startFuzzWorld } from '../support/fleet/fuzz-world.ts';
import { sendMutations, sendNoise } from '../support/fleet/mutations.ts';
import { needs } from '../support/runner/needs.ts';

const MINUTES = 60_000;
const ROUNDS = 10;
const MAX_GROWTH_BYTES = 32 * 2 ** 20;

test('the fleet listener refuses ten thousand mutations of each message, and its memory stays flat', async (t) => {
  const w = await startFuzzWorld(t, await newSqlite(t));
  const memory: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const seed = Math.floor(Math.random() * 0x7fff_ffff); // a failure names it
    t.diagnostic(JSON.stringify(await sendMutations(w.send, w.messages, { runs: 1000, seed, atOnce: 8 })));
    await sendNoise(w.fleet.listener.port, 1000, seed);
    memory.push(usedMemory());
  }
  const growth = (memory.at(-1) ?? 0) - (memory[2] ?? 0);
  const megabytes = memory.map((bytes) => Math.round(bytes / 2 ** 20)).join(' ');
  t.diagnostic(`${megabytes} MiB in use after each round, ${Math.round(process.memoryUsage().rss / 2 ** 20)} resident`);
  await goesOn(w);
  assert.ok(growth < MAX_GROWTH_BYTES, `${growth} bytes more`);
});

test('a control on PostgreSQL refuses them too', needs('postgres', { timeout: 5 * MINUTES }), async (t) => {
  const w = await startFuzzWorld(t, await newPostgres(t));
  const seed = Math.floor(Math.random() * 0x7fff_ffff);
  t.diagnostic(JSON.stringify(await sendMutations(w.send, w.messages, { runs: 1000, seed, atOnce: 8 })));
  await goesOn(w);
});

/** Bytes in use after a collection: what is kept. */
function usedMemory(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function goesOn({ fleet, identity, failures }: FuzzWorld): Promise<void> {
  assert.deepEqual(failures.slice(0, 5), []);
  assert.equal((await ask(fleet.control, identity, { headers: { 'causeway-feed': '2' } })).status, 404);
}
