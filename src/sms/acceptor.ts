/**
 * Requests to send on their way into the database. Those that arrive before a transaction begins share it, and each is
 * answered when its transaction is committed (docs/decisions/0212). Accounts take turns (docs/decisions/0462).
 */
import { setImmediate as letSocketsRun } from 'node:timers/promises';
import { isDatabaseAway, isUnanswered } from '#db/failures.ts';
import { callProcedure, type Db } from '#db/open.ts';
import { createShares, type Shares } from '#lib/shares.ts';
import { mostNumbers, type Submission, type Verdict } from './accept.ts';
import { createProcedures } from './procedures.ts';

export type AcceptorVerdict = Verdict | { readonly kind: 'queueFull' };

/** Submissions in one transaction. */
const MAX_SUBMISSIONS = 256;
/** Numbers in one transaction; on SQLite all other writes wait for it. No single request has more. */
const MAX_NUMBERS = 5_000;

interface Waiting {
  readonly submission: Submission;
  readonly numbers: number;
  readonly answer: PromiseWithResolvers<AcceptorVerdict>;
}

export interface AcceptorOptions {
  readonly db: Db;
  /**
   * Limit of requests waiting for a transaction. Those beyond their account's share are rejected; see `createShares`.
   */
  readonly maxWaiting: number;
  /** Notified when messages were accepted in a transaction that did not claim them. */
  onAccepted(): void;
  /**
   * Notified when requests are waiting. Returns whether the engine's next round takes them; otherwise they get a
   * transaction of their own. docs/decisions/0322
   */
  offer?(waiting: WaitingSubmissions): boolean;
}

/** Requests that wait for a transaction, as the owner of one sees them. */
export interface WaitingSubmissions {
  readonly waiting: number;
  /** Takes as many waiting requests as fit into one transaction. */
  take(): SubmissionBatch;
  /**
   * Runs the waiting requests in a transaction of their own, because no round takes them. `failure`: of the last round.
   * If it got no answer, the requests are refused: they have waited for as long, and would wait as long again.
   */
  acceptAlone(failure?: unknown): void;
}

export interface SubmissionBatch {
  readonly submissions: readonly Submission[];
  /** Called when the transaction is committed. */
  settle(verdicts: readonly Verdict[]): void;
  /** Called when the transaction failed: each request is then tried alone, unless the database is unreachable. */
  fail(error: unknown): void;
}

export class Acceptor implements WaitingSubmissions {
  readonly #options: AcceptorOptions;
  readonly #procedures = createProcedures();
  /** Waiting requests of each account, in order of arrival; the first account has the next turn. */
  readonly #waiting = new Map<number, Waiting[]>();
  readonly #places: Shares;
  #isRunning = false;

  constructor(options: AcceptorOptions) {
    this.#options = options;
    this.#places = createShares(options.maxWaiting);
  }

  /** Rejects if the transaction fails. Whether it was committed is then unknown. */
  submit(submission: Submission): Promise<AcceptorVerdict> {
    const { accountId } = submission;
    if (!this.#places.mayTake(String(accountId), 1)) return Promise.resolve({ kind: 'queueFull' });
    this.#places.add(String(accountId), 1);
    const numbers = mostNumbers(submission);
    const answer = Promise.withResolvers<AcceptorVerdict>();
    const own = this.#waiting.get(accountId);
    if (own === undefined) this.#waiting.set(accountId, [{ submission, numbers, answer }]);
    else own.push({ submission, numbers, answer });
    if (!this.#isRunning && this.#options.offer?.(this) !== true) this.acceptAlone();
    return answer.promise;
  }

  get waiting(): number {
    return this.#places.taken;
  }

  acceptAlone(failure?: unknown): void {
    if (isUnanswered(failure)) this.#refuseAll(failure);
    if (!this.#isRunning && this.waiting > 0) void this.#run(); // never rejects
  }

  take(): SubmissionBatch {
    const taken = this.#take();
    return {
      submissions: taken.map(({ submission }) => submission),
      settle: (verdicts) => answerAll(taken, verdicts),
      fail: (error) => void this.#tryAlone(taken, error), // never rejects
    };
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    await letSocketsRun(); // requests that arrived together share a transaction
    while (this.waiting > 0) await this.#settle();
    this.#isRunning = false;
  }

  /** Takes one request of each account in turn (round-robin) until a transaction is full. */
  #take(): readonly Waiting[] {
    const taken: Waiting[] = [];
    let numbers = 0;
    // An account with more requests moves to the end, so that the loop reaches it again.
    for (const [accountId, own] of this.#waiting) {
      const [next] = own;
      if (next === undefined || taken.length >= MAX_SUBMISSIONS) break;
      numbers += next.numbers;
      if (taken.length > 0 && numbers > MAX_NUMBERS) break;
      own.shift();
      taken.push(next);
      this.#places.add(String(accountId), -1);
      this.#waiting.delete(accountId);
      if (own.length > 0) this.#waiting.set(accountId, own);
    }
    return taken;
  }

  /**
   * Runs a transaction. If it fails because of one request, only that request fails. Without `batch` it takes the
   * requests that are waiting when the transaction has begun.
   */
  async #settle(batch?: readonly Waiting[]): Promise<void> {
    let taken = batch;
    const take = () => {
      taken ??= this.#take();
      return taken;
    };
    try {
      const verdicts = await this.#accept(take);
      if (verdicts.some(({ kind }) => kind === 'accepted')) this.#options.onAccepted();
      answerAll(take(), verdicts);
    } catch (error) {
      if (take().length === 1) rejectAll(take(), error);
      else await this.#tryAlone(take(), error);
    }
  }

  async #tryAlone(taken: readonly Waiting[], error: unknown): Promise<void> {
    if (isDatabaseAway(error)) {
      rejectAll(taken, error);
      if (isUnanswered(error)) this.#refuseAll(error);
    } else for (const waiting of taken) await this.#settle([waiting]);
  }

  #refuseAll(error: unknown): void {
    while (this.waiting > 0) rejectAll(this.#take(), error);
  }

  #accept(take: () => readonly Waiting[]): Promise<readonly Verdict[]> {
    return callProcedure(this.#options.db, this.#procedures, 'accept', () =>
      take().map(({ submission }) => submission),
    );
  }
}

function answerAll(taken: readonly Waiting[], verdicts: readonly Verdict[]): void {
  for (const [index, { answer }] of taken.entries()) {
    const verdict = verdicts[index];
    if (verdict === undefined) answer.reject(new Error('a request was left without a verdict'));
    else answer.resolve(verdict);
  }
}

function rejectAll(taken: readonly Waiting[], error: unknown): void {
  for (const { answer } of taken) answer.reject(error);
}
