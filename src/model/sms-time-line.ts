/** What happened to a part of a message, in order. Pure. */
import { isFinal, type PartState } from './sms-part.ts';

export interface PartHistory {
  /** Number of the part, from 1. */
  readonly part: number;
  readonly state: PartState;
  readonly error: string;
  /** Last word of the carrier's receipts, as received; empty if there is none. */
  readonly lastWord: string;
  /** Connector that has or had the part; absent if none has. */
  readonly connectorId: number | undefined;
  /** The carrier's id; absent while no carrier has accepted the part. */
  readonly carrierId: string | undefined;
  /** Instant from which the part may be sent, or sent again. */
  readonly dueAt: number;
  readonly submittedAt: number | undefined;
  readonly doneAt: number | undefined;
  /** Tries that failed or were repeated, oldest first. */
  readonly attempts: readonly Attempt[];
}

interface Attempt {
  readonly connectorId: number;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly outcome: string;
  readonly error: string;
}

export interface TimeLineEvent {
  readonly at: number;
  /**
   * `accepted`: the price is held. `due`: it waits until then. `refused`, `postponed`, `lost`: how a try ended. Others:
   * the part is in this state since.
   */
  readonly kind: TimeLineKind;
  readonly connectorId?: number | undefined;
  /** The carrier's id of the part; empty: it gave none. */
  readonly carrierId?: string | undefined;
  readonly error?: string;
  /** The carrier's word. */
  readonly word?: string;
}

export const TIME_LINE_KINDS = [
  'accepted',
  'due',
  'refused',
  'postponed',
  'lost',
  'submitted',
  'simulated',
  'delivered',
  'failed',
  'expired',
  'unknown',
  'rejected',
] as const;

type TimeLineKind = (typeof TIME_LINE_KINDS)[number];

/** `createdAt`: acceptance of the message. */
export function timeLineOf(part: PartHistory, createdAt: number): readonly TimeLineEvent[] {
  const { state, connectorId, carrierId, submittedAt, doneAt, dueAt, error, lastWord } = part;
  const tries = part.attempts.map(
    (attempt): TimeLineEvent => ({
      at: attempt.endedAt,
      kind: attempt.outcome as 'refused' | 'postponed' | 'lost', // nothing else is ever written
      connectorId: attempt.connectorId,
      error: attempt.error,
    }),
  );
  const wasTaken = carrierId !== undefined || state === 'submitted';
  const events: TimeLineEvent[] = [
    { at: createdAt, kind: 'accepted' },
    ...tries,
    ...(wasTaken && submittedAt !== undefined
      ? [{ at: submittedAt, kind: 'submitted' as const, connectorId, carrierId }]
      : []),
    ...(isEnd(state) && doneAt !== undefined
      ? [{ at: doneAt, kind: state, error, ...(lastWord !== '' && { word: lastWord, connectorId }) }]
      : []),
  ];
  const last = events.toSorted((a, b) => a.at - b.at);
  return state === 'queued' && dueAt > createdAt ? [...last, { at: dueAt, kind: 'due' }] : last;
}

type EndState = Extract<PartState, TimeLineKind> & Exclude<PartState, 'submitted'>;

function isEnd(state: PartState): state is EndState {
  return isFinal(state);
}
