/**
 * What SQLite's thread has to do for a message, by how many share a round: each round accepts as many, claims them, and stores
 * what the carrier answered to those of the round before. In this process, without HTTP and SMPP.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCalls } from '#db/engines/sqlite/calls.ts';
import { openStatements } from '#db/engines/sqlite/statements.ts';
import { openDatabase } from '#db/open.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { createSmsApp } from '#db/tables/sms/apps.ts';
import { rechargeSms } from '#db/tables/sms/balance.ts';
import { createLogger } from '#lib/logger.ts';
import type { Submission } from '#sms/accept.ts';
import { SMS_PROCEDURES } from '#sms/procedures.ts';
import type { Round, RoundDone } from '#sms/round.ts';

const ROUNDS = Number(process.argv[3] ?? 300);
const WARM_UP = 60;
const CONNECTOR = 1;
const LANES = [{ route: '', minTries: 0, maxTries: 4 }];

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
const file = join(folder, 'causeway.db');
try {
  const accountId = await fill();
  const connection = openStatements({ file, isReader: false });
  const call = await createCalls((statement) => connection.run(statement), SMS_PROCEDURES.href);
  for (const size of [64, 32, 6]) console.log(`${size} in a round: ${await measure(call, accountId, size)}`);
  connection.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function fill(): Promise<number> {
  await using db = await openDatabase({ file, log: createLogger({ level: 'warn', name: 'bench' }) });
  const now = Date.now();
  const { id: accountId } = await createAccount(db.query, { name: 'bench', kind: 'customer', now });
  await createSmsApp(db.query, { accountId, appKey: 'bench', name: 'bench', now });
  await db.transaction((trx) => rechargeSms(trx, { accountId, amount: 1_000_000_000_000, now }));
  return accountId;
}

async function measure(call: Awaited<ReturnType<typeof createCalls>>, accountId: number, size: number) {
  let results: Round['results'] = [];
  const tookMs: number[] = [];
  let cpu = process.cpuUsage();
  for (let n = -WARM_UP; n < ROUNDS; n += 1) {
    if (n === 0) cpu = process.cpuUsage();
    const now = Date.now();
    const round: Round = {
      ...{ results, events: [], submissions: submissionsOf(accountId, `${size}-${n}`, size, now) },
      claims: [{ connectorId: CONNECTOR, lanes: LANES, limit: 100, wholeMessages: false }],
      ...{ owner: 'bench', leaseUntil: now + 60_000, chargeAt: 'submit', now },
    };
    const beginning = performance.now();
    // `as`: it is what the procedure of this name gives.
    const { claimed } = (await call('round', round)) as RoundDone;
    tookMs.push(performance.now() - beginning);
    results = (claimed[0]?.parts ?? []).map(({ id: partId }) => {
      const carrierId = `${size}-${partId.toString(16).padStart(8, '0')}`;
      const outcome = { kind: 'accepted', carrierId, keys: [carrierId] } as const;
      return { partId, connectorId: CONNECTOR, sentAt: now, endedAt: now, outcome };
    });
    if (results.length !== size) throw new Error(`of ${size} messages ${results.length} went out`);
  }
  const { user, system } = process.cpuUsage(cpu);
  const each = ((user + system) / ROUNDS / size).toFixed(1);
  const median = tookMs.slice(WARM_UP).sort((a, b) => a - b)[ROUNDS >> 1] ?? 0;
  return `${each} µs of processor time a message, half of the rounds took less than ${median.toFixed(1)} ms`;
}

function submissionsOf(accountId: number, name: string, size: number, now: number): readonly Submission[] {
  return Array.from({ length: size }, (_, n) => {
    const own = {
      replayHash: `${now} ${name} ${n}`,
      sendid: `${name}-${n}`,
      mobile: `+86138${String(now + n).slice(-8)}`,
    };
    return {
      accountId,
      appKey: 'bench',
      kind: 'ordinary',
      smsType: 1,
      content: '%E4%BD%A0%E5%A5%BD+bench',
      now,
      ...own,
    };
  });
}
