/** Decides what a carrier's response means for the part. Pure. docs/decisions/0222 */
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';
import { unreachable } from '#lib/unreachable.ts';
import type { PartOutcome } from '#model/sms-part.ts';
import type { SubmitOutcome } from './carrier.ts';

/** Tries on each connector of the route that may end in a transient error of the carrier. */
export const MAX_TRIES = 5;
const RETRY_BACKOFF: Backoff = { firstMs: 5_000, capMs: 300_000 };
/** Longest delay between two tries of a part. */
export const LONGEST_RETRY_MS = RETRY_BACKOFF.capMs;

export interface OutcomeFacts {
  /** Tries of the part on all connectors, this one included. */
  readonly tries: number;
  /** Position of the connector in the route, from 0, and how many the route has. */
  readonly position: number;
  readonly connectors: number;
  /** Whether the connector's settings are known to be wrong: what is refused for them is not the message's fault. */
  readonly isMisconfigured: boolean;
  readonly now: number;
  /** 0 ≤ random < 1 */
  readonly random: number;
}

export function partOutcomeOf(outcome: SubmitOutcome, facts: OutcomeFacts): PartOutcome {
  switch (outcome.kind) {
    case 'accepted':
    case 'simulated':
      return outcome;
    case 'uncertain':
      return { kind: 'lost', error: outcome.reason };
    case 'unsent':
      return { kind: 'postponed', error: outcome.reason };
    case 'refused':
      return refusalOf(outcome, facts);
    default:
      return unreachable(outcome);
  }
}

function refusalOf(
  outcome: Extract<SubmitOutcome, { kind: 'refused' }>,
  { tries, position, connectors, isMisconfigured, now, random }: OutcomeFacts,
): PartOutcome {
  const { status: error } = outcome;
  switch (outcome.class) {
    case 'permanent':
      return { kind: 'refused', error };
    case 'transient': {
      if (tries >= MAX_TRIES * connectors) return { kind: 'refused', error };
      const isLastHere = tries === MAX_TRIES * (position + 1);
      const delayMs = isLastHere ? 0 : backoffDelayMs(RETRY_BACKOFF, tries, random);
      return { kind: 'postponed', dueAt: now + delayMs, error };
    }
    // The whole connector pauses, not the part, which stays first in the queue.
    case 'throttled':
    case 'rebind':
      return { kind: 'postponed', error };
    case 'misconfigured':
      return { kind: isMisconfigured ? 'postponed' : 'refused', error };
    default:
      return unreachable(outcome.class);
  }
}
