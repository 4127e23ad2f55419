/** An edge worker that follows the live process: a process that ends with the service is no warning, one that stays away is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnerClient } from '#edge/live/owner-client.ts';
import { StreamTable } from '#edge/live/stream-table.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { eventually } from '../support/eventually.ts';
import { startScriptedOwner } from '../support/live/scripted-owner.ts';

test('one lost connection is not logged, and a process that stays away is logged once', async (t) => {
  const owner = await startScriptedOwner(t);
  const lines: string[] = [];
  const log = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } });
  const table = new StreamTable(() => undefined);
  const limits = { retryMs: 20, silenceMs: 15_000, answerMs: 15_000 };
  const client = new OwnerClient(table, { socketPath: owner.socketPath, clock: systemClock, log, limits });
  t.after(() => client.close());
  await eventually('the table is whole', () => table.isSynced);

  owner.hangUp();
  await eventually('the connection is lost', () => !table.isSynced);
  await eventually('and made again', () => table.isSynced);
  assert.deepEqual(lines, []);

  await owner.kill();
  await eventually('the second attempt is logged', () => lines.length > 0);
  await owner.start();
  await eventually('it is followed again', () => table.isSynced);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['cannot reach the live process; retrying'],
  );
});
