/**
 * Rate limit for lines of the service's log that strangers can cause at will: for each message and domain ten lines,
 * then ten a minute, which say how many were left out.
 */
import type { Logger } from '#lib/logger.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';

type Fields = Readonly<Record<string, unknown>>;

const BURST = 10;
const PER_MINUTE = 10;
const MAX_KEYS = 10_000;

export class RareLines {
  readonly #log: Pick<Logger, 'warn' | 'info'>;
  readonly #now: () => number;
  readonly #buckets = new TokenBuckets({ perSecond: PER_MINUTE / 60, burst: BURST, maxKeys: MAX_KEYS });
  readonly #leftOut = new Map<string, number>();

  /** `now`: milliseconds of a monotonic clock. */
  constructor(log: Pick<Logger, 'warn' | 'info'>, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /** Logs a warning. `domainId` is `undefined` if the line belongs to no domain. */
  warn(domainId: number | undefined, fields: Fields, message: string): void {
    this.#write('warn', domainId, fields, message);
  }

  /** Like `warn`, for an ordinary event. */
  info(domainId: number | undefined, fields: Fields, message: string): void {
    this.#write('info', domainId, fields, message);
  }

  #write(level: 'warn' | 'info', domainId: number | undefined, fields: Fields, message: string): void {
    const key = `${domainId ?? 0} ${message}`;
    const leftOut = this.#leftOut.get(key) ?? 0;
    if (this.#buckets.take(key, this.#now()).kind === 'empty') {
      if (leftOut > 0 || this.#leftOut.size < MAX_KEYS) this.#leftOut.set(key, leftOut + 1);
      return;
    }
    this.#leftOut.delete(key);
    this.#log[level](leftOut === 0 ? fields : { ...fields, leftOut }, message);
  }
}
