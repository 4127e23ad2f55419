/**
 * Collects what a worker reports to the machine's prober: the origins that it uses, each at most once per interval.
 * Pure.
 */
import { Lru } from '#lib/lru.ts';
import type { OriginUse } from './probe-schedule.ts';

/** Interval for an origin in use, well within the time for which an origin is probed after its last use. */
const SAY_AGAIN_MS = 60_000;
/**
 * Interval for an origin that is passed over: the prober may be new, or have reported a success that requests did not
 * see.
 */
const SAY_AGAIN_PASSED_OVER_MS = 5_000;
const MAX_ORIGINS = 10_000;
/** Limit of uses between two reports; further origins are reported at a later use. */
const MAX_PENDING = 1_000;

export interface OriginUses {
  note(use: OriginUse, now: number): void;
  /** Returns the uses to report, each once. */
  take(): readonly OriginUse[];
}

export function createOriginUses(): OriginUses {
  const said = new Lru<string, { readonly at: number; readonly isPassedOver: boolean }>({ maxWeight: MAX_ORIGINS });
  let pending: OriginUse[] = [];
  return {
    note: (use, now) => {
      const { target, isPassedOver } = use;
      const last = said.get(target.key);
      const againMs = isPassedOver ? SAY_AGAIN_PASSED_OVER_MS : SAY_AGAIN_MS;
      const isKnown = last !== undefined && last.isPassedOver === isPassedOver && Math.abs(now - last.at) < againMs;
      if (isKnown || pending.length >= MAX_PENDING) return;
      said.set(target.key, { at: now, isPassedOver });
      pending.push(use);
    },
    take: () => {
      const taken = pending;
      pending = [];
      return taken;
    },
  };
}
