/**
 * The rounds of the engine. A round is one transaction that stores the carriers' responses, receipts and replies and
 * claims the parts that may be sent; then these are sent. Only one round runs at a time, so everything that arrives
 * meanwhile shares the next commit. docs/decisions/0221
 */
import { setTimeout as delay, setImmediate as letSocketsRun } from 'node:timers/promises';
import { callProcedure } from '#db/open.ts';
import type { ClaimedPart } from '#db/tables/sms/claim.ts';
import type { PartResult } from '#db/tables/sms/results.ts';
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';
import { Generations } from '#lib/generations.ts';
import type { Verdict } from './accept.ts';
import type { SubmissionBatch, WaitingSubmissions } from './acceptor.ts';
import type { PartToSubmit, SubmitOutcome } from './carrier.ts';
import type { InboundEvent } from './inbound-events.ts';
import type { Inbox } from './inbox.ts';
import { LEASE_MS } from './lease.ts';
import type { Line } from './lines.ts';
import { MAX_TRIES, partOutcomeOf } from './outcome.ts';
import type { SmsProcedures } from './procedures.ts';
import { mayRefund, type Round } from './round.ts';
import { lanesOf, type RouteTable } from './route.ts';
import type { SmsTools } from './tools.ts';

export interface DispatcherOptions extends SmsTools {
  readonly procedures: SmsProcedures;
  readonly inbox: Inbox<InboundEvent>;
  /** Current lines. */
  lines(): readonly Line[];
  routes(): RouteTable;
  /** Interval at which the queue is polled without a wake: another process may have accepted something. */
  readonly pollMs: number;
}

/** Parts of one connector in one round. */
const MAX_CLAIM = 500;
/** Sent parts that are remembered: those of some seconds at full load, 10 MB. */
const MAX_SENT = 200_000;
/** Receipts and replies in one round. */
const MAX_ITEMS = 1000;
/**
 * Shortest interval between rounds while fewer than `MANY` requests wait: a round takes 1 ms of processor time even for
 * one of them. docs/decisions/0364
 */
const ROUNDS_APART_MS = 2;
const MANY = 16;
/** Longest delay of responses that free no room for a waiting part, so that several of them share a round. */
const ANSWERS_WAIT_MS = 5;
const FAILURE_BACKOFF: Backoff = { firstMs: 100, capMs: 2_000 };

interface OpenLine {
  readonly line: Line;
  readonly room: number;
}

interface Claimed {
  readonly line: Line;
  readonly leaseUntil: number;
  readonly parts: readonly ClaimedPart[];
  /** Whether more parts may be due. */
  readonly isFull: boolean;
}

export class Dispatcher implements AsyncDisposable {
  readonly #options: DispatcherOptions;
  /** Responses that are not stored yet, bounded by the connectors' windows. */
  #results: PartResult[] = [];
  #submissions: WaitingSubmissions | undefined;
  /** Ids of the parts in flight, and of those whose response is not stored yet. */
  readonly #own = new Set<number>();
  /**
   * Parts that were given to carriers lately. After a fail-over that lost their results the database says that they are
   * about to be sent. On SQLite nothing is lost. docs/decisions/0612
   */
  readonly #sent: Generations<number, true> | undefined;
  /** Number of parts of each line that are claimed and about to be sent. */
  readonly #kept = new Map<Line, number>();
  #wake = Promise.withResolvers<void>();
  /** Whether more parts may be due: the last round claimed as many as it asked for, or a connector had no room. */
  #isFull = false;
  #wakingSoon: NodeJS.Timeout | undefined;
  #claims = true;
  #ends = false;
  #failures = 0;
  readonly #running: Promise<void>;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    if (options.db.engine === 'postgres') this.#sent = new Generations({ maxWeight: () => MAX_SENT });
    this.#running = this.#run();
  }

  /** Ids of the parts in flight, and of those whose response is not stored yet. */
  get underWay(): ReadonlySet<number> {
    return this.#own;
  }

  /** Whether the part was given to a carrier lately. */
  wasSent(partId: number): boolean {
    return this.#sent?.get(partId) === true;
  }

  /** Wakes the dispatcher: there may be work. */
  wake(): void {
    this.#wake.resolve();
  }

  note(result: PartResult): void {
    this.#own.add(result.partId);
    this.#results.push(result);
    if (this.#isFull || this.#ends) this.wake();
    else this.#wakingSoon ??= setTimeout(() => this.wake(), ANSWERS_WAIT_MS);
  }

  /**
   * Notified when requests are waiting to be accepted. Returns whether the next round takes them: false while rounds
   * fail, so that callers get an error instead of waiting.
   */
  offer(submissions: WaitingSubmissions): boolean {
    if (this.#ends || this.#failures > 0) return false;
    this.#submissions = submissions;
    this.wake();
    return true;
  }

  /** Stops sending. */
  stopClaiming(): void {
    this.#claims = false;
  }

  /** Resolves when all responses are stored, or when the database does not take them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#claims = false;
    this.#ends = true;
    this.wake();
    await this.#running;
    this.#submissions?.acceptAlone();
  }

  async #run(): Promise<void> {
    for (;;) {
      this.#wake = Promise.withResolvers<void>();
      const apart = delay(ROUNDS_APART_MS);
      const isBusy = await this.#tryRound();
      if (this.#ends && (this.#results.length === 0 || this.#failures > 0)) return;
      if (isBusy && (this.#isFull || this.#waiting >= MANY)) continue;
      if (!isBusy) await this.#rest();
      if (!this.#isFull) await apart;
      // Events that arrive together share a round, after every response that freed room is recorded.
      await letSocketsRun();
    }
  }

  /** Returns false if there is nothing more to do now. */
  async #tryRound(): Promise<boolean> {
    const { inbox, lines, log, metrics } = this.#options;
    if (this.#results.length === 0 && inbox.size === 0 && this.#waiting === 0 && this.#open().length === 0)
      return false;
    const endTimer = metrics.rounds.startTimer();
    const round = this.#beginRound();
    try {
      const claimed = await round.claim();
      endTimer();
      this.#failures = 0;
      for (const claim of claimed) this.#keep(claim);
      // After the next round has begun, so that the database works while parts are sent and requests are answered.
      process.nextTick(() => {
        for (const claim of claimed) this.#sendAll(claim);
        round.settle();
      });
      this.#isFull = claimed.length < lines().length || claimed.some(({ isFull }) => isFull);
      const isMore = claimed.some(({ line, isFull }) => isFull && this.#roomOf(line) > 0);
      const isHeldUp = this.#results.length > 0 && (this.#isFull || this.#ends);
      return isMore || isHeldUp || inbox.size > 0 || this.#waiting > 0;
    } catch (error) {
      // Carriers repeat deliveries that are not acknowledged; responses are kept for the next round.
      round.settle(error);
      this.#failures += 1;
      log.error({ err: error, failures: this.#failures }, 'round of the SMS queue failed; retrying');
      this.#submissions?.acceptAlone(error);
      return false;
    }
  }

  /** Prepares a round. Its input is taken when the transaction begins and includes all that arrived until then. */
  #beginRound() {
    const { db, procedures, inbox } = this.#options;
    let results: PartResult[] = [];
    let batch = inbox.take(0);
    let open: readonly OpenLine[] = [];
    let submitted: SubmissionBatch | undefined;
    let decided: readonly Verdict[] = [];
    let round: Round | undefined;
    const take = () => {
      if (round !== undefined) return round;
      clearTimeout(this.#wakingSoon);
      this.#wakingSoon = undefined;
      results = this.#results.splice(0);
      batch = inbox.take(MAX_ITEMS);
      // Room that responses free later belongs to parts that the database still counts as being submitted.
      open = this.#open();
      submitted = this.#submissions?.take();
      round = this.#roundOf({ results, events: batch.items, submissions: submitted?.submissions ?? [] }, open);
      return round;
    };
    const stored = () => {
      for (const { partId } of results) this.#own.delete(partId);
      results = [];
    };
    return {
      claim: async (): Promise<readonly Claimed[]> => {
        if (db.engine === 'postgres' && mayRefund(take())) {
          const whole = take();
          await callProcedure(db, procedures, 'round', () => ({ ...whole, submissions: [], claims: [] }));
          round = { ...whole, results: [], events: [] };
          stored();
          batch.settle();
          batch = inbox.take(0);
        }
        const { verdicts, claimed } = await callProcedure(db, procedures, 'round', take);
        decided = verdicts;
        stored();
        const { leaseUntil } = take();
        return claimed.flatMap((one, n) => {
          const line = open[n]?.line;
          return line === undefined ? [] : [{ line, leaseUntil, ...one }];
        });
      },
      settle: (error?: unknown) => {
        batch.settle(error === undefined ? undefined : new Error('the database did not take it', { cause: error }));
        if (error === undefined) submitted?.settle(decided);
        else {
          this.#results.unshift(...results);
          submitted?.fail(error);
        }
      },
    };
  }

  #roundOf(input: Pick<Round, 'results' | 'events' | 'submissions'>, open: readonly OpenLine[]): Round {
    const { clock, owner, chargeAt, lines, routes, peers } = this.#options;
    const isUp = (id: number) => lines().some((other) => other.id === id && other.isUp) || peers.isUpElsewhere(id);
    const claims = open.map(({ line, room }) => ({
      connectorId: line.id,
      lanes: lanesOf(line.id, routes().all, isUp, MAX_TRIES),
      limit: Math.min(room, MAX_CLAIM),
      wholeMessages: line.wholeMessages,
    }));
    const now = clock();
    return { ...input, claims, owner, leaseUntil: now + LEASE_MS, chargeAt, now };
  }

  get #waiting(): number {
    return this.#submissions?.waiting ?? 0;
  }

  /** Lines that may send parts now. */
  #open(): readonly OpenLine[] {
    if (!this.#claims || !this.#options.peers.mayClaim) return [];
    const ready = this.#options.lines().flatMap((line) => (line.isUp ? [{ line, room: this.#roomOf(line) }] : []));
    return ready.filter(({ room }) => room > 0);
  }

  /** Room of the line, less the parts that are about to be sent. */
  #roomOf(line: Line): number {
    return line.room - (this.#kept.get(line) ?? 0);
  }

  #keep({ line, parts }: Claimed): void {
    for (const { id } of parts) this.#own.add(id);
    this.#kept.set(line, parts.length);
  }

  #sendAll({ line, leaseUntil, parts }: Claimed): void {
    this.#kept.delete(line);
    for (const [n, part] of parts.entries()) {
      void this.#send(line, leaseUntil, part, companyOf(parts, n)); // never rejects, as `submit` does not
    }
  }

  async #send(line: Line, leaseUntil: number, part: ClaimedPart, company: Company): Promise<void> {
    const { clock, random, metrics, routes } = this.#options;
    const sentAt = clock();
    // After so long a stall the lease has expired: another process may have marked the part as uncertain.
    const outcome: SubmitOutcome =
      sentAt >= leaseUntil
        ? { kind: 'unsent', reason: 'late' }
        : await line.submit(partToSubmit(part, line.sender, company, sentAt));
    const endedAt = clock();
    if (outcome.kind !== 'unsent') this.#sent?.set(part.id, true);
    const { position, connectors } = routes().place(part.route, line.id);
    const isMisconfigured = line.misconfigured !== undefined;
    const facts = { tries: part.tries + 1, position, connectors, isMisconfigured, now: endedAt, random: random() };
    const stored = partOutcomeOf(outcome, facts);
    metrics.outcomes.inc({ connector: line.name, outcome: stored.kind });
    this.note({ partId: part.id, connectorId: line.id, sentAt, endedAt, outcome: stored });
  }

  /** Rests until something happens, a connector's rate allows more, or the next poll is due. */
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

type Company = Pick<PartToSubmit, 'texts' | 'partsLeft'>;

function partToSubmit(part: ClaimedPart, sender: string, company: Company, now: number): PartToSubmit {
  const validitySeconds = Math.max(1, Math.ceil((part.expireAt - now) / 1000));
  return { ...part, ...company, partId: part.id, sender, validitySeconds };
}

/** Finds the parts around the nth that belong to its message. */
function companyOf(parts: readonly ClaimedPart[], n: number): Company {
  const messageId = parts[n]?.messageId;
  let [first, end] = [n, n + 1];
  while (first > 0 && parts[first - 1]?.messageId === messageId) first -= 1;
  while (end < parts.length && parts[end]?.messageId === messageId) end += 1;
  return { texts: parts.slice(first, end).map(({ text }) => text), partsLeft: end - n - 1 };
}
