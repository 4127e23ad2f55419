/** The interval at which the edge sweeps its connections for idle ones. */
import type { EdgeLimits } from '../limits.ts';

const MAX_SWEEP_MS = 1_000;

export function sweepMsOf({ requestHeaderMs, keepAliveMs, clientIdleMs }: EdgeLimits): number {
  return Math.min(MAX_SWEEP_MS, requestHeaderMs / 4, keepAliveMs / 4, clientIdleMs / 4);
}
