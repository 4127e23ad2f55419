/** Customers send, carriers are slow, and the process that sends is killed and the disk full, on both engines. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { administer, newPostgres } from '../support/db/databases.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { stormSms } from '../support/sms/sms-storm.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ROUNDS = 9;
const NOTHING_LOST = 'no message that was accepted is lost, sent twice or charged twice';

test(`kills and a full disk, on SQLite: ${NOTHING_LOST}`, needs('netSmpp', 'mounts'), async (t) => {
  const program = join(import.meta.dirname, '..', 'support', 'sms', 'sms-storm-small-disk.ts');
  const script = 'mount -t tmpfs -o size=24m tmpfs "$0" && exec "$1" "$2" "$0" "$3"';
  const args = ['-rm', 'sh', '-c', script, temporaryFolder(t), process.execPath, program, String(ROUNDS)];
  const { stdout } = await promisify(execFile)(obtain('mounts'), args);
  const answers: Record<string, number> = JSON.parse(stdout);
  t.diagnostic(stdout);
  assert.ok((answers['notReady'] ?? 0) > 0, stdout);
});

test(`kills and a full disk, on PostgreSQL: ${NOTHING_LOST}`, needs('netSmpp', 'postgres'), async (t) => {
  const { url = '' } = await newPostgres(t);
  const disk = { fill: () => administer(url, FULL), free: () => administer(url, FREE) };
  const dataDir = join(temporaryFolder(t), 'data');
  const answers = await stormSms(t, { dataDir, databaseUrl: url, rounds: ROUNDS, disk });
  t.diagnostic(JSON.stringify(answers));
  assert.ok((answers['notReady'] ?? 0) > 0);
});

/** What a server says whose disk is full, to half of all statements that write: so transactions end at any of theirs. */
const FULL = `
  create or replace function full_disk() returns trigger language plpgsql as $$ begin
    if random() < 0.5 then raise 'could not extend file: No space left on device' using errcode = 'disk_full'; end if;
    return null;
  end $$;
  create trigger full_disk after insert or update on sms_part execute function full_disk();
  create trigger full_disk after insert on sms_ledger execute function full_disk()`;
const FREE = 'drop trigger if exists full_disk on sms_part; drop trigger if exists full_disk on sms_ledger';
