/** Customers send, a carrier is slow, and the process that sends is killed, on both engines; on SQLite the disk is full, too. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { newPostgres } from '../support/databases.ts';
import { canMount, needsNetSmpp, needsPostgres } from '../support/needs.ts';
import { stormSms } from '../support/sms-storm.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ROUNDS = 9;
const NOTHING_LOST = 'no message that was accepted is lost, sent twice or charged twice';

test(`kills and a full disk, on SQLite: ${NOTHING_LOST}`, either(needsNetSmpp(), canMount()), async (t) => {
  const program = join(import.meta.dirname, '..', 'support', 'sms-storm-small-disk.ts');
  const script = 'mount -t tmpfs -o size=24m tmpfs "$0" && exec "$1" "$2" "$0" "$3"';
  const args = ['-rm', 'sh', '-c', script, temporaryFolder(t), process.execPath, program, String(ROUNDS)];
  const { stdout } = await promisify(execFile)('unshare', args);
  const answers: Record<string, number> = JSON.parse(stdout);
  t.diagnostic(stdout);
  assert.ok((answers['notReady'] ?? 0) > 0, stdout);
});

test(`kills, on PostgreSQL: ${NOTHING_LOST}`, either(needsNetSmpp(), needsPostgres()), async (t) => {
  const { url = '' } = await newPostgres(t);
  t.diagnostic(
    JSON.stringify(await stormSms(t, { dataDir: join(temporaryFolder(t), 'data'), databaseUrl: url, rounds: ROUNDS })),
  );
});

function either(...needs: readonly ReturnType<typeof needsNetSmpp>[]) {
  return needs.find(({ skip }) => skip !== false) ?? { skip: false as const };
}
