/** A site's rate limits: which of them counts for a request. docs/decisions/0635 */
import { createHash } from 'node:crypto';
import { MAX_LIMIT_REQUESTS, MAX_LIMIT_SECONDS } from '#model/limits.ts';
import type { RateLimit } from '#model/rules.ts';
import type { CompileTools } from './compile-tools.ts';
import { readInteger, readObject, readRules } from './members.ts';
import { PathRules, readPathRule } from './path-rules.ts';
import type { PolicyTarget } from './policy.ts';

/** A limit as it is counted. */
export interface SiteLimit extends RateLimit {
  /** Time in which one request is given back. */
  readonly intervalMs: number;
  /** Two numbers of 32 bits that no other limit has: a changed one, or one of another site. */
  readonly high: number;
  readonly low: number;
}

export class SiteLimits {
  readonly #rules: PathRules;
  readonly #limits: readonly SiteLimit[];

  /** Throws `RangeError` for a content that `checkPolicy` speaks of. */
  constructor(siteId: number, limits: readonly RateLimit[], tools: CompileTools) {
    this.#rules = new PathRules(limits, tools);
    this.#limits = limits.map((limit) => toSiteLimit(siteId, limit));
  }

  /** The first limit whose path matches, if any. */
  find(target: PolicyTarget): SiteLimit | undefined {
    const index = this.#rules.find(target);
    return index === undefined ? undefined : this.#limits[index];
  }
}

function toSiteLimit(siteId: number, limit: RateLimit): SiteLimit {
  const { match, content, requests, seconds, burst } = limit;
  const digest = createHash('sha256')
    .update(JSON.stringify([siteId, match, content, requests, seconds, burst]))
    .digest();
  return {
    ...limit,
    intervalMs: (seconds * 1000) / requests,
    high: digest.readInt32LE(0),
    low: digest.readInt32LE(4),
  };
}

/** Returns `undefined` for no limits. Throws `SpecProblem`. */
export function readRateLimits(siteId: number, value: unknown, tools: CompileTools): SiteLimits | undefined {
  return readRules('rateLimits', value, readRateLimit, (limits) => new SiteLimits(siteId, limits, tools));
}

function readRateLimit(member: string, value: unknown): RateLimit {
  const members = readObject(member, value);
  return {
    ...readPathRule(member, value),
    requests: readInteger(`${member}.requests`, members['requests'], MAX_LIMIT_REQUESTS),
    seconds: readInteger(`${member}.seconds`, members['seconds'], MAX_LIMIT_SECONDS),
    burst: readInteger(`${member}.burst`, members['burst'], MAX_LIMIT_REQUESTS),
  };
}
