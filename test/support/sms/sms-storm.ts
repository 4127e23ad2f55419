/**
 * Messages that customers send over HTTP all the while, to carriers of which one is slow and one slower than the service waits, while the
 * process that sends them is killed and the disk is full: what has become of every message afterwards.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '#client/client.ts';
import { ClientError } from '#client/client-error.ts';
import type { Client } from '#client/transport.ts';
import type { Db } from '#db/open.ts';
import type { ChargeAt } from '#model/sms-part.ts';
import { eventually } from '../eventually.ts';
import { isAlive, type RunningService, startService } from '../process/service.ts';
import { checkMoney, openSmsDatabase } from './sms-queue.ts';
import { type Smsc, type SmscOptions, startSmsc } from './smsc.ts';

export interface StormOptions {
  readonly dataDir: string;
  /** URL of PostgreSQL; absent: SQLite in the data directory. */
  readonly databaseUrl?: string;
  readonly rounds: number;
  /** That the database is on. */
  readonly disk: { fill(): void | Promise<void>; free(): void | Promise<void> };
}

/** How many answers of each kind customers got; those that were refused or never came they asked for again. */
export type StormAnswers = Readonly<Record<string, number>>;

interface Way {
  readonly prefix: string;
  readonly smsc: SmscOptions;
  readonly window: number;
  readonly responseSeconds: number;
  readonly isLate?: true;
}

const WAYS: readonly Way[] = [
  { prefix: '+861381', smsc: {}, window: 20, responseSeconds: 30 },
  // Its window is full, and a queue waits for it.
  { prefix: '+861382', smsc: { otherwise: 'slow', slowMs: 500 }, window: 10, responseSeconds: 30 },
  // Of three answers one comes when nobody waits for it any more.
  { prefix: '+861383', smsc: { answers: late(), slowMs: 1_500 }, window: 10, responseSeconds: 1, isLate: true },
];

function late(): SmscOptions['answers'] & {} {
  return Array.from({ length: 5_000 }, (_, n) => (n % 3 === 0 ? 'slow' : 'ok'));
}

/** Index in `WAYS` of each of ten messages. */
const MIX = [0, 0, 0, 0, 0, 0, 0, 1, 1, 2];

const FAULTS = ['full', 'kill', 'killWhileFull'] as const;

const SENDERS = 8;
/** Accepted before a fault, and after it. */
const CALM = 150;
const FULL_MS = 1_000;
/** Limit on a busy machine. */
const LIMIT_MS = 240_000;
const RETRY_MS = 100;

export async function stormSms(t: Pick<TestContext, 'after'>, options: StormOptions): Promise<StormAnswers> {
  const { dataDir, databaseUrl, rounds, disk } = options;
  const chargeAt: ChargeAt = databaseUrl === undefined ? 'submit' : 'receipt';
  const service = await startService(t, {
    dataDir,
    settings: {
      CAUSEWAY_ROLES: 'control',
      CAUSEWAY_SMS_CHARGE_AT: chargeAt,
      CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000',
      CAUSEWAY_TOKEN_RATE_BURST: '10000',
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    },
  });
  const db = await openSmsDatabase({ file: join(dataDir, 'causeway.db'), ...(databaseUrl && { url: databaseUrl }) });
  t.after(() => db[Symbol.asyncDispose]());
  const operator = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const { app_key } = await operator.call('smsOperator.createApp', { name: 'storm', balance: 1_000_000 });
  const smscs = await Promise.all(WAYS.map(({ smsc }) => startSmsc(t, smsc)));
  for (const [n, way] of WAYS.entries()) await connect(operator, `way-${n}`, way, smscs[n]?.port ?? 0);

  const answers: Record<string, number> = {};
  for (let round = 0; round < rounds; round += 1) {
    const senders = new Senders(operator, app_key, round, answers);
    t.after(() => senders.abort());
    await eventually('messages are accepted', () => senders.accepted.size >= CALM, LIMIT_MS);
    const fault = FAULTS[round % FAULTS.length] ?? 'kill';
    await strike(fault, service, answers, disk);
    const before = senders.accepted.size;
    await eventually('messages are accepted again', () => senders.accepted.size >= before + CALM, LIMIT_MS);
    await senders.stop();
    await checkMessages(db, senders.accepted, smscs, fault !== 'full');
    // Answers that were late still come.
    await eventually('the money is right', () => checkMoney(db, chargeAt).then(() => true), LIMIT_MS);
  }
  assert.equal(await service.stop(), 0);
  return answers;
}

async function connect(operator: Client, name: string, { prefix, window, responseSeconds }: Way, port: number) {
  const carrier = { host: '127.0.0.1', port, system_id: 'cw', password: 'secret' };
  await operator.call('smsOperator.setConnector', { name, ...carrier, window, response_seconds: responseSeconds });
  await operator.call('smsOperator.setRoute', { prefix, connectors: [name] });
}

async function strike(
  fault: (typeof FAULTS)[number],
  service: RunningService,
  answers: StormAnswers,
  disk: StormOptions['disk'],
) {
  if (fault !== 'kill') {
    const before = answers['notReady'] ?? 0;
    await disk.fill();
    await eventually('the disk is full', () => (answers['notReady'] ?? 0) > before, LIMIT_MS);
    await delay(FULL_MS);
  }
  if (fault !== 'full') {
    const pid = service.pids()['control'] ?? 0;
    process.kill(pid, 'SIGKILL');
    await eventually('it is gone', () => !isAlive(pid), LIMIT_MS);
  }
  if (fault === 'killWhileFull') await delay(FULL_MS);
  await disk.free();
}

/** Each sends one message after the other, and each of them, as it was, until it is accepted. */
class Senders {
  /** The sendid, by number. */
  readonly accepted = new Map<string, string>();
  readonly #running: readonly Promise<void>[];
  #isStopped = false;
  #isAborted = false;
  #sent = 0;

  constructor(client: Client, appKey: string, round: number, answers: Record<string, number>) {
    this.#running = Array.from({ length: SENDERS }, async () => {
      while (!this.#isStopped) {
        const mobile = numberOf(round, this.#sent++);
        const request = {
          app_key: appKey,
          mobile,
          content: 'storm'.repeat(partsOf(mobile) === 1 ? 1 : 20),
          time: String(Date.now()),
        };
        const sendid = await sendUntilAccepted(client, request, answers, () => this.#isAborted);
        if (sendid !== undefined) this.accepted.set(mobile, sendid);
      }
    });
  }

  /** Gives up requests that are not accepted yet: the test has failed. */
  abort(): void {
    this.#isStopped = true;
    this.#isAborted = true;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }
}

function numberOf(round: number, n: number): string {
  const way = WAYS[MIX[n % MIX.length] ?? 0];
  return `${way?.prefix}${String(round * 10_000 + n).padStart(7, '0')}`;
}

/** A third of the messages is long. */
function partsOf(mobile: string): number {
  return Number(mobile.slice(-7)) % 3 === 0 ? 2 : 1;
}

async function sendUntilAccepted(
  client: Client,
  request: Parameters<typeof client.call<'sms.ordinary'>>[1],
  answers: Record<string, number>,
  isAborted: () => boolean,
): Promise<string | undefined> {
  while (!isAborted()) {
    try {
      const { sendid } = await client.call('sms.ordinary', request);
      answers['accepted'] = (answers['accepted'] ?? 0) + 1;
      return sendid;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const kind = error.code ?? error.kind;
      answers[kind] = (answers[kind] ?? 0) + 1;
      await delay(RETRY_MS);
    }
  }
  return undefined;
}

/** What was accepted is there once, under the number that was answered; its carrier got it once, or nobody knows whether it did. */
async function checkMessages(
  db: Db,
  accepted: ReadonlyMap<string, string>,
  smscs: readonly Smsc[],
  isKilled: boolean,
): Promise<void> {
  const rows = await eventually(
    'all have been sent',
    async () => {
      const found = await readMessages(db, accepted);
      assert.deepEqual([...new Set(found.map(({ state }) => state))].filter(isOnItsWay), []);
      return found;
    },
    LIMIT_MS,
  );
  const asked = [...accepted].flatMap(([mobile, sendid]) =>
    Array.from({ length: partsOf(mobile) }, (_, n) => `${mobile} ${n + 1} ${sendid}`),
  );
  const stored = rows.map(({ destination, part, sendid }) => `${destination} ${part} ${sendid}`);
  assert.deepEqual(stored.sort(), asked.sort(), 'each is stored once');
  checkUncertain(rows, isKilled);
  const given = Map.groupBy(
    smscs.flatMap((smsc) => smsc.submits().map(({ to, text }) => `+${to} ${partOf(text)}`)),
    (part) => part,
  );
  for (const { destination, part, state, sends } of rows) {
    const name = `${destination} ${part}`;
    const times = given.get(name)?.length ?? 0;
    assert.ok(['uncertain', 'submitted', 'delivered'].includes(state), `${name} is ${state}`);
    assert.ok(
      times === 1 || (times === 0 && state === 'uncertain'),
      `${name} is ${state}, and its carrier got it ${times} times`,
    );
    assert.equal(sends, 1, `${name} is not marked as sent again`);
  }
}

/** Which part of its message, by the header of a long one. */
function partOf(text: string): number {
  return text.startsWith('050003') ? Number.parseInt(text.slice(10, 12), 16) : 1;
}

/** Only what was on its way when the process was killed, or was answered too late. */
function checkUncertain(
  states: readonly { readonly destination: string; readonly state: string }[],
  isKilled: boolean,
) {
  for (const { prefix, window, isLate } of WAYS) {
    const own = states.filter(({ destination, state }) => destination.startsWith(prefix) && state === 'uncertain');
    if (isLate !== true) assert.ok(own.length <= (isKilled ? window : 0), `${own.length} of ${prefix} are uncertain`);
  }
}

function isOnItsWay(state: string): boolean {
  return state === 'queued' || state === 'submitting';
}

async function readMessages(db: Db, accepted: ReadonlyMap<string, string>) {
  const rows = await db.query
    .selectFrom('sms_part as p')
    .innerJoin('sms_message as m', 'm.id', 'p.message_id')
    .innerJoin('sms_request as r', 'r.id', 'm.request_id')
    .select(['m.destination', 'r.sendid', 'p.n as part', 'p.state', 'p.sends'])
    .execute();
  return rows.filter(({ destination }) => accepted.has(destination));
}
