/** What a worker tells the machine's prober: which origins it uses, each once in a while. Pure. */
import { Lru } from '#lib/lru.ts';
import type { OriginUse } from './probe-schedule.ts';

/** Well within what an origin is probed for after its last use. */
const SAY_AGAIN_MS = 60_000;
/** While it is passed over: the prober may be new, or have told of a success that requests did not find. */
const SAY_AGAIN_PASSED_OVER_MS = 5_000;
const MAX_ORIGINS = 10_000;
/** Uses remembered between two reports; others are reported at a later use. */
const MAX_PENDING = 1_000;

export interface OriginUses {
  note(use: OriginUse, now: number): void;
  /** Gives what is to be told, once. */
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
