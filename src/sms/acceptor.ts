/**
 * Requests to send on their way into the database: what arrives until a transaction has begun shares it, and each is answered
 * when its transaction has been committed. docs/decisions/0212
 */
import { setImmediate as letSocketsRun } from 'node:timers/promises';
import { isDatabaseAway } from '#db/failures.ts';
import type { Db } from '#db/open.ts';
import { acceptSubmissions, mostNumbers, type Submission, type Verdict } from './accept.ts';
import { Zones } from './zones.ts';

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
  /** Messages have been accepted. */
  onAccepted(): void;
}

export class Acceptor {
  readonly #options: AcceptorOptions;
  readonly #zones = new Zones();
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(options: AcceptorOptions) {
    this.#options = options;
  }

  /** Rejects when the database does not take it: whether it has is not known then. */
  async submit(submission: Submission): Promise<AcceptorVerdict> {
    if (this.#waiting.length >= this.#options.maxWaiting) return { kind: 'queueFull' };
    const numbers = mostNumbers(submission);
    const answer = Promise.withResolvers<AcceptorVerdict>();
    this.#waiting.push({ submission, numbers, answer });
    if (!this.#isRunning) void this.#run(); // never rejects
    return await answer.promise;
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
      for (const [index, { answer }] of take().entries()) {
        const verdict = verdicts[index];
        if (verdict === undefined) answer.reject(new Error('a request was left without a verdict'));
        else answer.resolve(verdict);
      }
    } catch (error) {
      if (take().length === 1 || isDatabaseAway(error)) for (const { answer } of take()) answer.reject(error);
      else for (const waiting of take()) await this.#settle([waiting]);
    }
  }

  #accept(take: () => readonly Waiting[]): Promise<readonly Verdict[]> {
    return this.#options.db.transaction((trx) => {
      const submissions = take().map(({ submission }) => submission);
      return acceptSubmissions(trx, submissions, (zone) => this.#zones.get(zone));
    });
  }
}
