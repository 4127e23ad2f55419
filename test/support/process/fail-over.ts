/** Fail-overs of PostgreSQL under load, each with a time line from the death of the primary to working edges. */
import type { TestContext } from 'node:test';
import pg from 'pg';
import { openDatabase } from '#db/open.ts';
import { createLogger } from '#lib/logger.ts';
import { type Replicas, startReplicas } from '../db/replicas.ts';
import { eventually } from '../eventually.ts';
import { gapOf, LOAD_KINDS, type LoadKind } from './control-load.ts';
import { appliedRevision, type ControlsWorld, judge, startControlsWorld, untilAtHead } from './controls-world.ts';

/** Milliseconds since the primary was killed, and the interruption that callers noticed. */
interface FailOverTimes {
  /** The standby says that it is promoted. */
  readonly promoted: number;
  /** The last of the two controls answers `/readyz` with 200. */
  readonly ready: number;
  /** The first call of each kind is acknowledged, through HAProxy. */
  readonly change: number;
  readonly purge: number;
  readonly message: number;
  /** The first message goes to the carrier. */
  readonly submitted: number;
  /** A domain that is added after the first change is in force on both edges. */
  readonly inForce: number;
  /** Longest time without an acknowledged call of a kind. */
  readonly gapMs: number;
  /** Time from the first to the last failed call of a kind. */
  readonly failingMs: number;
  readonly failed: number;
  /** Revisions that the new primary lacks of those that edges had. */
  readonly lostRevisions: number;
}

const LIMIT_MS = 120_000;
/** Calls of each kind that are acknowledged between two fail-overs. */
const CALM = 6;
const SILENT = createLogger({ level: 'silent', name: 'test' });

interface Rounds {
  readonly rounds: number;
  readonly isSynchronous: boolean;
}

/** Runs fail-overs; with asynchronous replication the standby receives nothing for a while before each. */
export async function failOver(t: TestContext, { rounds, isSynchronous }: Rounds) {
  const replicas = await startReplicas(t, { isSynchronous });
  const world = await startControlsWorld(t, replicas.url);
  const times: FailOverTimes[] = [];
  for (let round = 0; round < rounds; round += 1) {
    world.load.start();
    await untilCalm(world);
    if (!isSynchronous) {
      await replicas.stopReceiving();
      await untilCalm(world);
    }
    times.push(await failOverOnce(world, replicas, round));
    await untilCalm(world);
    await world.load.stop();
    await using db = await openDatabase({ url: replicas.primaryUrl, file: '', log: SILENT });
    await untilAtHead(world.services, db);
    await replicas.repair();
  }
  return { ...(await judge(t, world, replicas.primaryUrl)), times };
}

/** Resolves when some more calls of each kind were acknowledged. */
export async function untilCalm({ load }: Pick<ControlsWorld, 'load'>): Promise<void> {
  const before = new Map(LOAD_KINDS.map((kind) => [kind, load.count(kind)]));
  await eventually(
    'calls of each kind are acknowledged',
    () => LOAD_KINDS.every((kind) => load.count(kind) >= (before.get(kind) ?? 0) + CALM),
    LIMIT_MS,
  );
}

async function failOverOnce(world: ControlsWorld, replicas: Replicas, round: number): Promise<FailOverTimes> {
  const { load, services, smsc } = world;
  const edgesAt = Math.max(...(await Promise.all(services.map(appliedRevision))));
  const from = performance.now();
  await replicas.failOver();
  const promotedAt = performance.now();
  const lostRevisions = edgesAt - (await readHead(replicas.primaryUrl));
  const submitted = smsc.submits().length;
  const until = async (what: string, probe: () => boolean | Promise<boolean>) => {
    await eventually(what, probe, LIMIT_MS);
    return Math.round(performance.now() - from);
  };
  const first = (kind: LoadKind) =>
    until(`a ${kind} is acknowledged`, () => load.acknowledged.some((one) => one.kind === kind && one.at > promotedAt));
  const change = first('change');
  const [ready, purge, message, sent, inForce] = await Promise.all([
    until('both are ready', async () => {
      const answers = await Promise.all(services.map(({ controlUrl }) => fetch(`${controlUrl}/readyz`)));
      return answers.every(({ status }) => status === 200);
    }),
    first('purge'),
    first('message'),
    until('a message is sent', () => smsc.submits().length > submitted),
    change.then(() => addInForce(world, round)).then(() => Math.round(performance.now() - from)),
  ]);
  const noticed = LOAD_KINDS.map((kind) => gapOf(load, kind, from, performance.now()));
  return {
    promoted: Math.round(promotedAt - from),
    ...{ ready, change: await change, purge, message, submitted: sent, inForce },
    gapMs: Math.max(...noticed.map(({ gapMs }) => gapMs)),
    failingMs: Math.max(...noticed.map(({ failingMs }) => failingMs)),
    failed: noticed.reduce((sum, { failed }) => sum + failed, 0),
    lostRevisions,
  };
}

/** Adds a domain, and waits until both edges serve it. */
async function addInForce({ operator }: ControlsWorld, round: number): Promise<void> {
  let tries = 0;
  const { domain_id } = await eventually(
    'a domain is added',
    () => {
      tries += 1;
      return operator.call('domain.add', {
        domain: `r${round}t${tries}.example.com`,
        cdn_type: '1',
        data: '192.0.2.1',
      });
    },
    LIMIT_MS,
  );
  await eventually(
    'it is in force',
    async () => (await operator.call('domain.get', { domain_id })).domain_status === 2,
    LIMIT_MS,
  );
}

async function readHead(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return Number((await client.query('select revision from config_head')).rows[0].revision);
  } finally {
    await client.end();
  }
}

/** Median and most of each time of the time lines. */
export function summarise(times: readonly FailOverTimes[]): Readonly<Record<string, string>> {
  const names = Object.keys(times[0] ?? {}) as (keyof FailOverTimes)[]; // `as`: the members of the interface
  return Object.fromEntries(
    names.map((name) => {
      const sorted = times.map((one) => one[name]).sort((a, b) => a - b);
      return [name, `${sorted[Math.floor(sorted.length / 2)]} (most ${sorted.at(-1)})`];
    }),
  );
}
