/**
 * Requests to send on their way into the database: what arrives until a transaction has begun shares it, and each is answered
 * when its transaction has been committed. docs/decisions/0212
 */
import { setImmediate as letSocketsRun } from 'node:timers/promises';
import { callProcedure } from '#db/call-procedure.ts';
import { isDatabaseAway } from '#db/failures.ts';
import type { Db } from '#db/open.ts';
import { mostNumbers, type Submission, type Verdict } from './accept.ts';
import { createProcedures } from './procedures.ts';

export type AcceptorVerdict = Verdict | { readonly kind: 'queueFull' };

/** In one transaction. */
const MAX_SUBMISSIONS = 256;
/** In one transaction: everything else waits for it on SQLite. One request may have as many alone. */
const MAX_NUMBERS = 5_000;

interface Waiting {
  readonly submission: Submission;
  readonly numbers: number;
  readonly answer: PromiseWithResolvers<AcceptorVerdict>;
}

export interface AcceptorOptions {
  readonly db: Db;
  /** That wait for a transaction; more are turned away. */
  readonly maxWaiting: number;
  /** Messages have been accepted, in a transaction that has not claimed them. */
  onAccepted(): void;
  /** Requests wait. True: the engine's next round takes them, and they need no transaction of their own. docs/decisions/0322 */
  offer?(waiting: WaitingSubmissions): boolean;
}

/** Requests that wait for a transaction, for who has one. */
export interface WaitingSubmissions {
  readonly waiting: number;
  /** As many as go into one. */
  take(): SubmissionBatch;
  /** Nobody takes them: they get a transaction of their own. */
  acceptAlone(): void;
}

export interface SubmissionBatch {
  readonly submissions: readonly Submission[];
  /** It is committed. */
  settle(verdicts: readonly Verdict[]): void;
  /** It is not: each is tried alone, unless the database is away. */
  fail(error: unknown): void;
}

export class Acceptor implements WaitingSubmissions {
  readonly #options: AcceptorOptions;
  readonly #procedures = createProcedures();
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(options: AcceptorOptions) {
    this.#options = options;
  }

  /** Rejects when the database does not take it: whether it has is not known then. */
  submit(submission: Submission): Promise<AcceptorVerdict> {
    if (this.#waiting.length >= this.#options.maxWaiting) return Promise.resolve({ kind: 'queueFull' });
    const numbers = mostNumbers(submission);
    const answer = Promise.withResolvers<AcceptorVerdict>();
    this.#waiting.push({ submission, numbers, answer });
    if (!this.#isRunning && this.#options.offer?.(this) !== true) this.acceptAlone();
    return answer.promise;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  acceptAlone(): void {
    if (!this.#isRunning && this.#waiting.length > 0) void this.#run(); // never rejects
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
    await letSocketsRun(); // what has arrived together goes together
    while (this.#waiting.length > 0) await this.#settle();
    this.#isRunning = false;
  }

  #take(): readonly Waiting[] {
    let numbers = 0;
    const end = this.#waiting.findIndex((waiting, index) => {
      numbers += waiting.numbers;
      return index > 0 && (index >= MAX_SUBMISSIONS || numbers > MAX_NUMBERS);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /** One that fails by a fault of its own fails alone. `batch` absent: as many as wait when the transaction has begun. */
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
    if (isDatabaseAway(error)) rejectAll(taken, error);
    else for (const waiting of taken) await this.#settle([waiting]);
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
