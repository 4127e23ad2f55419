/**
 * The rounds of the engine: what carriers answered and told since the last one is stored, and what may go out next is claimed,
 * in one transaction; then that goes out. Only one round runs at a time, so what arrives meanwhile is committed together.
 * docs/decisions/0221
 */
import { setImmediate as letSocketsRun } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import type { Db } from '#db/open.ts';
import type { Schema } from '#db/schema.ts';
import { findSmsAppsById } from '#db/sms-apps.ts';
import { type ClaimedPart, claimParts, holdParts, isAdvertising } from '#db/sms-claim.ts';
import { type PartResult, storeResults } from '#db/sms-results.ts';
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { SubmitOutcome } from './carrier.ts';
import type { Inbox } from './inbox.ts';
import { LEASE_MS } from './lease.ts';
import type { Line } from './lines.ts';
import type { SmsMetrics } from './metrics.ts';
import { MAX_TRIES, partOutcomeOf } from './outcome.ts';
import { releaseAt } from './quiet-hours.ts';
import { lanesOf, type RouteTable } from './route.ts';
import { Zones } from './zones.ts';

export interface DispatcherOptions<T> {
  readonly db: Db;
  readonly clock: Clock;
  /** 0 ≤ random() < 1 */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: SmsMetrics;
  /** Names this process among those that share the database. */
  readonly owner: string;
  readonly inbox: Inbox<T>;
  /** As they are now. */
  lines(): readonly Line[];
  routes(): RouteTable;
  /** Of what the inbox held and of parts that came to an end; in the round's transaction. */
  store(trx: Transaction<Schema>, items: readonly T[], endedParts: readonly number[], now: number): Promise<void>;
  /** Without a wake the queue is looked at so often: another process may have accepted something. */
  readonly pollMs: number;
}

/** Parts of one connector in one round. */
const MAX_CLAIM = 500;
/** Receipts and replies in one round. */
const MAX_ITEMS = 1000;
const FAILURE_BACKOFF: Backoff = { firstMs: 100, capMs: 5_000 };

interface Claimed {
  readonly line: Line;
  readonly leaseUntil: number;
  readonly parts: readonly ClaimedPart[];
}

export class Dispatcher<T> implements AsyncDisposable {
  readonly #options: DispatcherOptions<T>;
  /** Answers that are not stored yet; the connectors' windows bound them. */
  #results: PartResult[] = [];
  readonly #zones = new Zones();
  #underWay = 0;
  #wake = Promise.withResolvers<void>();
  #claims = true;
  #ends = false;
  #failures = 0;
  readonly #running: Promise<void>;

  constructor(options: DispatcherOptions<T>) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Parts that are out, or whose answer is not stored yet. */
  get underWay(): number {
    return this.#underWay + this.#results.length;
  }

  /** There may be something to do. */
  wake(): void {
    this.#wake.resolve();
  }

  note(result: PartResult): void {
    this.#results.push(result);
    this.wake();
  }

  /** From now on nothing goes out. */
  stopClaiming(): void {
    this.#claims = false;
  }

  /** Resolves when what was answered until now is stored, unless the database is away. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#claims = false;
    this.#ends = true;
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      this.#wake = Promise.withResolvers<void>();
      const isBusy = await this.#tryRound();
      if (this.#ends && (this.#results.length === 0 || this.#failures > 0)) return;
      if (!isBusy) await this.#rest();
      // What has arrived together goes together; and every answer that made room is noted.
      await letSocketsRun();
    }
  }

  /** False: there is nothing more to do now. */
  async #tryRound(): Promise<boolean> {
    const { inbox, log, metrics } = this.#options;
    const results = this.#results.splice(0);
    const batch = inbox.take(MAX_ITEMS);
    const endTimer = metrics.rounds.startTimer();
    try {
      const claimed = await this.#round(results, batch.items);
      endTimer();
      batch.settle();
      this.#failures = 0;
      for (const claim of claimed) this.#sendAll(claim);
      return inbox.size > 0 || this.#results.length > 0 || claimed.some(({ line }) => line.room > 0);
    } catch (error) {
      // Carriers send again what was not acknowledged; answers are kept for the next round.
      batch.settle(new Error('the database did not take it', { cause: error }));
      this.#results.unshift(...results);
      this.#failures += 1;
      log.error({ err: error, failures: this.#failures }, 'a round of the queue failed; it is tried again');
      return false;
    }
  }

  async #round(results: readonly PartResult[], items: readonly T[]): Promise<readonly Claimed[]> {
    const { db, clock, lines, store } = this.#options;
    // As it is now: room that answers make meanwhile belongs to parts that are still submitting in the database.
    const ready = this.#claims ? lines().flatMap((line) => (line.isUp ? [{ line, room: line.room }] : [])) : [];
    const open = ready.filter(({ room }) => room > 0);
    if (results.length === 0 && items.length === 0 && open.length === 0) return [];
    return await db.transaction(async (trx) => {
      const now = clock();
      const ended = await storeResults(trx, results, now);
      if (items.length > 0 || ended.length > 0) await store(trx, items, ended, now);
      const claimed: Claimed[] = [];
      for (const { line, room } of open) {
        const claim = await this.#claim(trx, line, room, now);
        if (claim.parts.length > 0) claimed.push(claim);
      }
      return claimed;
    });
  }

  async #claim(trx: Transaction<Schema>, line: Line, room: number, now: number): Promise<Claimed> {
    const { owner, lines, routes } = this.#options;
    const isUp = (id: number) => lines().some((other) => other.id === id && other.isUp);
    const leaseUntil = now + LEASE_MS;
    const due = await claimParts(trx, {
      connectorId: line.id,
      lanes: lanesOf(line.id, routes().all, isUp, MAX_TRIES),
      limit: Math.min(room, MAX_CLAIM),
      owner,
      leaseUntil,
      now,
    });
    return { line, leaseUntil, parts: await this.#withinHours(trx, due, now) };
  }

  /** Advertising was accepted while its hours lasted, and may come up after them. */
  async #withinHours(
    trx: Transaction<Schema>,
    due: readonly ClaimedPart[],
    now: number,
  ): Promise<readonly ClaimedPart[]> {
    const appIds = new Set(due.filter(isAdvertising).map(({ appId }) => appId));
    if (appIds.size === 0) return due;
    const releases = new Map<number, number>();
    for (const { id, settings } of await findSmsAppsById(trx, [...appIds])) {
      const { marketingHours: hours } = settings;
      if (hours !== undefined) releases.set(id, releaseAt(now, hours, this.#zones.get(hours.timeZone)));
    }
    const releaseOf = (part: ClaimedPart) => (isAdvertising(part) ? (releases.get(part.appId) ?? now) : now);
    const held = due.filter((part) => releaseOf(part) > now).map((part) => ({ part, dueAt: releaseOf(part) }));
    await holdParts(trx, held, now);
    return due.filter((part) => releaseOf(part) <= now);
  }

  #sendAll({ line, leaseUntil, parts }: Claimed): void {
    for (const part of parts) {
      this.#underWay += 1;
      // Never rejects, as `submit` does not.
      void this.#send(line, leaseUntil, part).finally(() => {
        this.#underWay -= 1;
      });
    }
  }

  async #send(line: Line, leaseUntil: number, part: ClaimedPart): Promise<void> {
    const { clock, random, metrics, routes } = this.#options;
    const sentAt = clock();
    // Whoever stood still for so long has lost the part: another process may have called it uncertain.
    const outcome: SubmitOutcome =
      sentAt >= leaseUntil ? { kind: 'unsent', reason: 'late' } : await line.submit(partToSubmit(part, sentAt));
    const endedAt = clock();
    const { position, connectors } = routes().place(part.route, line.id);
    const facts = { tries: part.tries + 1, position, connectors, now: endedAt, random: random() };
    const stored = partOutcomeOf(outcome, facts);
    metrics.outcomes.inc({ connector: line.name, outcome: stored.kind });
    this.note({ partId: part.id, connectorId: line.id, sentAt, endedAt, outcome: stored });
  }

  /** Until something happens, a connector's rate allows more, or it is time to look. */
  async #rest(): Promise<void> {
    const { lines, pollMs, random } = this.#options;
    const waits = lines().flatMap(({ waitMs }) => (waitMs === undefined ? [] : [waitMs]));
    const isFailing = this.#failures > 0;
    const ms = isFailing ? backoffDelayMs(FAILURE_BACKOFF, this.#failures, random()) : Math.min(pollMs, ...waits);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(1, ms));
    // While the database is away, wakes do not hurry it.
    await (isFailing && !this.#ends ? promise : Promise.race([this.#wake.promise, promise]));
    clearTimeout(timer);
  }
}

function partToSubmit(part: ClaimedPart, now: number) {
  return {
    partId: part.id,
    destination: part.destination,
    sender: '',
    text: part.text,
    part: part.part,
    parts: part.parts,
    reference: part.reference,
    validitySeconds: Math.max(1, Math.ceil((part.expireAt - now) / 1000)),
  };
}
