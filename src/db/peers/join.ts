/**
 * A control that shares its database: it says every 3 s that it is there, sees the others, compares its clock with the
 * database's, and takes and renews leases. docs/decisions/0576, 0577
 */
import { setTimeout as delay } from 'node:timers/promises';
import { steadyClock, systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { type Rounds, startRounds } from '#lib/rounds.ts';
import {
  type ClockVerdict,
  type ControlFacts,
  findConflict,
  isOutdated,
  judgeClock,
  type SeenControl,
} from '#model/control.ts';
import { chooseLeases, type WantedLease } from '#model/lease.ts';
import type { ConnectorReport } from '#model/sms-connector-report.ts';
import type { Db } from '../open.ts';
import type { Executor } from '../schema/schema.ts';
import {
  listControls,
  lockControls,
  pruneControls,
  readClock,
  recordControl,
  removeControl,
} from '../tables/controls.ts';
import { LeaseEnded, listLeases, releaseLeases, requireLease, takeLeases } from '../tables/leases.ts';
import { withTransaction } from '../with-transaction.ts';
import { HeldLeases } from './held-leases.ts';
import type { Controls } from './peers.ts';

export interface JoinOptions {
  readonly db: Db;
  /** Names this control in leases; a process that is started again in its place has the same. */
  readonly id: string;
  /** What must agree with the other controls, as of now. */
  facts(): ControlFacts;
  readonly log: Logger;
  readonly times?: LeaseTimes;
}

export interface LeaseTimes {
  /** Length of a lease. */
  readonly leaseMs: number;
  /** Interval of renewals; after a failed one they follow every `retryMs`. */
  readonly renewMs: number;
  readonly retryMs: number;
  /** How long a lease that is not renewed is made use of: what it stands for must have ended at `leaseMs`. */
  readonly holdMs: number;
}

const DEFAULT_TIMES: LeaseTimes = { leaseMs: 10_000, renewMs: 3_000, retryMs: 1_000, holdMs: 8_000 };

/** Pause before another control's row is looked at again: one that has ended is not seen any more after 15 s. */
const LOOK_AGAIN_MS = 1_000;

export interface OpenControls extends Controls, AsyncDisposable {
  /** Milliseconds that this machine's clock is ahead of the database's; negative if it is behind. */
  readonly clockAheadMs: number;
  /** The leases held now. */
  readonly held: readonly string[];
  /** Refuses `/readyz` from now on. */
  announceStop(): void;
}

/** Joins the controls of the database. Throws with the name of the setting that keeps it from doing so. */
export async function joinControls(options: JoinOptions): Promise<OpenControls> {
  const { db, id } = options;
  const startedAt = db.clock();
  await pruneControls(db.query, startedAt);
  const own = () => ({ id, startedAt, facts: options.facts(), connectorsUp: [], connectors: [], now: db.clock() });
  const first = new Map<string, number>();
  for (;;) {
    const found = await db.transaction(async (trx) => {
      await lockControls(trx);
      const refused = findRefusal(options.facts(), await listOthers(trx, id, db.clock()));
      if (refused === undefined) await recordControl(trx, own());
      return refused;
    });
    if (found === undefined) return new JoinedControls(options, startedAt);
    // It may have ended without a word, perhaps on this very machine: one that is there is seen again.
    const { other, setting, problem } = found;
    const seenAt = first.get(other.id);
    if (seenAt !== undefined && other.seenAt > seenAt)
      throw new Error(`cannot share the database with another control (setting ${setting}): ${problem}`);
    first.set(other.id, seenAt ?? other.seenAt);
    await delay(LOOK_AGAIN_MS);
  }
}

async function listOthers(x: Executor, id: string, now: number): Promise<readonly SeenControl[]> {
  return (await listControls(x, now)).filter((control) => control.id !== id);
}

function findRefusal(own: ControlFacts, others: readonly SeenControl[]) {
  for (const other of others) {
    const conflict = findConflict(own, other.facts);
    if (conflict !== undefined) return { other, ...conflict };
  }
  return undefined;
}

class JoinedControls implements OpenControls {
  readonly #options: JoinOptions;
  readonly #times: LeaseTimes;
  readonly #startedAt: number;
  readonly #held: HeldLeases;
  readonly #wanted = new Map<string, readonly WantedLease[]>();
  readonly #listeners = new Set<() => void>();
  readonly #rounds: Rounds;
  #others: readonly SeenControl[] = [];
  #connectorsUp: readonly number[] = [];
  #readConnectors: () => readonly ConnectorReport[] = () => [];
  #verdict: ClockVerdict = 'right';
  #isOutdated = false;
  #isStopping = false;
  /** Whether a round is due before its time. */
  #isDue = false;
  #roundAt = Number.NEGATIVE_INFINITY;
  #ending: NodeJS.Timeout | undefined;
  /** What the listeners were last notified of. */
  #notified = '';
  clockAheadMs = 0;

  constructor(options: JoinOptions, startedAt: number) {
    this.#options = options;
    this.#times = options.times ?? DEFAULT_TIMES;
    this.#startedAt = startedAt;
    this.#held = new HeldLeases({ wall: systemClock, steady: steadyClock }, this.#times.holdMs);
    this.#rounds = startRounds({
      everyMs: this.#times.retryMs,
      work: () => this.#roundIfDue(),
      onFailure: (error, isRepeated) => {
        if (!isRepeated) options.log.error({ err: error }, 'cannot renew leases in the database; retrying');
      },
    });
  }

  get id(): string {
    return this.#options.id;
  }

  get seen(): number {
    return this.#others.length + 1;
  }

  get mayClaim(): boolean {
    return this.#verdict !== 'wrong' && !this.#isOutdated;
  }

  get obstacle(): string | undefined {
    if (this.#isStopping) return 'the service is stopping';
    return this.#verdict === 'wrong' ? 'the clock of this machine differs from that of the database' : undefined;
  }

  get held(): readonly string[] {
    return this.#held.names;
  }

  holds(lease: string): boolean {
    return this.mayClaim && this.#held.rowOf(lease) !== undefined;
  }

  want(kind: string, leases: readonly WantedLease[]): void {
    const before = this.#wanted.get(kind) ?? [];
    this.#wanted.set(kind, leases);
    if (leases.every(({ name }) => before.some((other) => other.name === name))) return;
    this.#isDue = true;
    this.#rounds.start();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async underLease(lease: string, db: Db, work: (db: Db) => Promise<void>): Promise<void> {
    const row = this.#held.rowOf(lease);
    if (row === undefined || !this.mayClaim) return;
    const { id: holder } = this.#options;
    // Between two rounds the clock of the machine may have been set; sweeps take work from others by it.
    await db.compareClock(() => readClock(db.query, db.clock()));
    const guarded = guard(db, (trx) => requireLease(trx, row, { holder, now: db.clock() }));
    try {
      await work(guarded);
    } catch (error) {
      if (!(error instanceof LeaseEnded)) throw error; // another control goes on with it
    }
  }

  noteConnectorsUp(ids: readonly number[]): void {
    this.#connectorsUp = ids;
  }

  isUpElsewhere(connectorId: number): boolean {
    return this.#others.some(({ connectorsUp }) => connectorsUp.includes(connectorId));
  }

  showConnectors(read: () => readonly ConnectorReport[]): void {
    this.#readConnectors = read;
  }

  get connectorsElsewhere(): Controls['connectorsElsewhere'] {
    return this.#others.map(({ id: control, connectors: reports }) => ({ control, reports }));
  }

  announceStop(): void {
    this.#isStopping = true;
  }

  /** Ends the leases, and with them this control's part of the limits. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#ending);
    this.#listeners.clear();
    await this.#rounds[Symbol.asyncDispose]();
    const { db, id, log } = this.#options;
    try {
      await releaseLeases(db.query, id);
      await removeControl(db.query, id);
    } catch (error) {
      log.warn({ err: error }, 'cannot release leases; they end by themselves');
    }
  }

  async #roundIfDue(): Promise<void> {
    const { renewMs, retryMs } = this.#times;
    if (!this.#isDue && steadyClock() - this.#roundAt < renewMs - retryMs / 2) return;
    this.#isDue = false;
    await this.#round();
    this.#roundAt = steadyClock();
    if (this.#isDue) await this.#roundIfDue();
  }

  async #round(): Promise<void> {
    const { db, id, facts, log } = this.#options;
    const startedAt = this.#startedAt;
    const connectors = this.#readConnectors();
    const own = { id, startedAt, facts: facts(), connectorsUp: this.#connectorsUp, connectors, now: db.clock() };
    this.clockAheadMs = await db.compareClock(() => recordControl(db.query, own));
    this.#judge(judgeClock(this.clockAheadMs));
    this.#others = await listOthers(db.query, id, db.clock());
    const isNewer = this.#others.some((other) => isOutdated(own.facts, other.facts));
    if (isNewer && !this.#isOutdated)
      log.error('another control has brought the database to a newer schema; this one takes no more work: update it');
    this.#isOutdated = isNewer;
    await this.#renew();
    this.#notifyIfChanged();
  }

  async #renew(): Promise<void> {
    const { db, id: holder } = this.#options;
    const since = this.#held.instant();
    if (!this.mayClaim) {
      this.#held.set(new Map(), since);
      await releaseLeases(db.query, holder);
      return;
    }
    const now = db.clock();
    const wanted = [...this.#wanted.values()].flat();
    const chosen = chooseLeases(wanted, await listLeases(db.query, now), holder);
    const { leaseMs } = this.#times;
    const taken = new Set(await takeLeases(db.query, [...chosen.values()], { holder, now, leaseMs }));
    this.#held.set(new Map([...chosen].filter(([, row]) => taken.has(row))), since);
  }

  #judge(verdict: ClockVerdict): void {
    const { log } = this.#options;
    if (verdict === this.#verdict) return;
    this.#verdict = verdict;
    const facts = { aheadMs: Math.round(this.clockAheadMs) };
    if (verdict === 'wrong')
      log.error(facts, 'the clock of this machine is wrong by that of the database; this control takes no work');
    else if (verdict === 'off') log.warn(facts, 'the clock of this machine differs from that of the database');
    else log.info(facts, 'the clock of this machine agrees with that of the database again');
  }

  #notifyIfChanged(): void {
    clearTimeout(this.#ending);
    const { restMs, names } = this.#held;
    if (restMs !== undefined) this.#ending = setTimeout(() => this.#notifyIfChanged(), Math.ceil(restMs));
    const state = [String(this.mayClaim), String(this.#others.length), ...names.toSorted()].join(' ');
    if (state === this.#notified) return;
    this.#notified = state;
    for (const listener of this.#listeners) listener();
  }
}

/**
 * The database, with `check` as the first and the last statement of each transaction: a process may stand still in the
 * middle of one for as long as it takes another to begin with the work.
 */
function guard(db: Db, check: (trx: Parameters<Parameters<Db['transaction']>[0]>[0]) => Promise<void>): Db {
  return withTransaction(db, (work) =>
    db.transaction(async (trx) => {
      await check(trx);
      const done = await work(trx);
      await check(trx);
      return done;
    }),
  );
}
