import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLocalTime } from '#lib/local-time.ts';
import { createLogger } from '#lib/logger.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import type { AccessRecord } from './line.ts';
import { openSpool } from './spool.ts';

const START = Date.UTC(2026, 0, 1);
const NAMES = ['edge-1', 'edge-1-b'];

test('spools that share their room keep only the newest files of all of them', async (t) => {
  const directory = join(temporaryFolder(t), 'logs');
  await write(t, directory, 'edge-1', START, ['first1', 'first2', 'first3']);
  await write(t, directory, 'edge-1-b', START + 1_000, ['second1', 'second2']);
  const names = readdirSync(directory).filter((file) => file.endsWith('.log'));
  assert.deepEqual(
    names.sort().map((file) => readFileSync(join(directory, file), 'utf8')),
    ['first3\n', 'second1\n', 'second2\n'],
  );
});

/** Writes each line into a file of its own. */
async function write(t: TestContext, directory: string, name: string, now: number, lines: readonly string[]) {
  const spool = openSpool({
    directory,
    name,
    sharing: NAMES,
    format: (_domainId, { target = '' }) => target,
    maxQueueBytes: 1024 * 1024,
    rotateBytes: 1,
    keepBytes: 10,
    zone: createLocalTime('UTC'),
    clock: () => now,
    log: createLogger({ level: 'silent', name: 'test' }),
  });
  t.after(() => spool.close());
  for (const target of lines) {
    // Nothing but the target and the end matters to this format.
    spool.write(7, { target, endedAt: now } as AccessRecord);
    await spool.flush();
  }
}
