/** Ten thousand mutated messages to the fleet listener, and as many connections with noise, other ones each time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSqlite } from '../support/db/databases.ts';
import { ask } from '../support/fleet/ask.ts';
import { createFleet } from '../support/fleet/fleet.ts';
import { sendMutations, sendNoise } from '../support/fleet/mutations.ts';

const MAX_GROWTH_BYTES = 64 * 2 ** 20;

test('the fleet listener refuses mutated messages, and its memory stays flat', async (t) => {
  let steady = 0;
  const fleet = await createFleet(t, await newSqlite(t), { steadyClock: () => (steady += 3_600_000) });
  const { identity } = await fleet.enrol('fra1');
  const before: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const seed = Math.floor(Math.random() * 0x7fff_ffff); // a failure names it
    t.diagnostic(JSON.stringify(await sendMutations(fleet, identity, 1000, seed)));
    await sendNoise(fleet, 1000, seed);
    before.push(process.memoryUsage().rss);
  }
  const growth = (before.at(-1) ?? 0) - (before[2] ?? 0);
  t.diagnostic(`${Math.round(growth / 2 ** 20)} MiB more after the last round than after the third`);
  assert.ok(growth < MAX_GROWTH_BYTES);
  assert.equal((await ask(fleet.control, identity)).status, 200);
});
