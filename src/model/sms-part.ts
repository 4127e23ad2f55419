/**
 * The life of one part of a message, and what its parts make of the message. Pure; `db/tables/sms/results.ts` and its
 * neighbours write by this table.
 */

/**
 * `submitting`: its bytes may be on their way. `uncertain`: they went out, and no answer came. `simulated`: the loopback
 * connector took it, no carrier did. `unknown`: nobody will tell any more, or the carrier's word says that it does not know.
 * `rejected`: the number has opted out.
 */
export const PART_STATES = [
  'queued',
  'submitting',
  'uncertain',
  'submitted',
  'simulated',
  'delivered',
  'failed',
  'expired',
  'unknown',
  'rejected',
] as const;

export type PartState = (typeof PART_STATES)[number];

/**
 * `claim`: the part is sent now. `accept`, `simulate`, `refuse`, `postpone`, `lose`: the outcome; `postpone` also when
 * the customer prefers a second message to none. The others end it: a receipt, the end of its validity, an opt-out.
 */
export type PartEvent =
  | 'claim'
  | 'accept'
  | 'simulate'
  | 'refuse'
  | 'postpone'
  | 'lose'
  | 'deliver'
  | 'undeliver'
  | 'expire'
  | 'giveUp'
  | 'optOut';

/** State → event → next state. Events that are not listed change nothing: the first end holds. */
const TRANSITIONS: Readonly<Record<PartState, Partial<Record<PartEvent, PartState>>>> = {
  // An answer that comes late is an answer, also when the part waits to be sent once more.
  queued: { claim: 'submitting', accept: 'submitted', refuse: 'failed', expire: 'expired', optOut: 'rejected' },
  submitting: { accept: 'submitted', simulate: 'simulated', refuse: 'failed', postpone: 'queued', lose: 'uncertain' },
  uncertain: {
    accept: 'submitted',
    refuse: 'failed',
    postpone: 'queued',
    deliver: 'delivered',
    undeliver: 'failed',
    expire: 'expired',
    giveUp: 'unknown',
  },
  submitted: { deliver: 'delivered', undeliver: 'failed', expire: 'expired', giveUp: 'unknown' },
  simulated: {},
  delivered: {},
  failed: {},
  expired: {},
  unknown: {},
  rejected: {},
};

/** `undefined`: the event changes nothing there. */
export function nextPartState(state: PartState, event: PartEvent): PartState | undefined {
  return TRANSITIONS[state][event];
}

export function partStatesThatAllow(event: PartEvent): readonly PartState[] {
  return PART_STATES.filter((state) => TRANSITIONS[state][event] !== undefined);
}

/** Nothing happens to it any more. */
export function isFinal(state: PartState): boolean {
  return Object.keys(TRANSITIONS[state]).length === 0;
}

/**
 * Time after sending in which a part that a receipt made `unknown` accepts a better word: as long as receipts are
 * awaited. docs/decisions/0422
 */
export const REVISABLE_MS = 72 * 3600 * 1000;

/** When the price that is held for a part is charged: when the carrier takes it, or when its receipt says that it is delivered. */
export type ChargeAt = 'submit' | 'receipt';

/** What is written of a part after it was submitted. */
export type PartOutcome =
  /** `keys`: forms of the id that receipts may have; the first is stored. */
  | { readonly kind: 'accepted'; readonly carrierId: string; readonly keys: readonly string[] }
  | { readonly kind: 'simulated' }
  /** Refused for good: the price is given back. */
  | { readonly kind: 'refused'; readonly error: string }
  /** Again from `dueAt`, a try less; without it the part keeps its place and its tries, and the connector waits. */
  | { readonly kind: 'postponed'; readonly dueAt?: number; readonly error: string }
  | { readonly kind: 'lost'; readonly error: string };

/** What spoils a message, the worst first; then how far a message has come whose parts are all on their way, the least first. */
const SPOILT: readonly PartState[] = ['failed', 'rejected', 'expired'];
const PROGRESS: readonly PartState[] = ['queued', 'submitting', 'uncertain', 'submitted', 'unknown', 'simulated'];

/** Delivered when every part is; failed when one is. `states` is not empty. */
export function messageStateOf(states: readonly PartState[]): PartState {
  return [...SPOILT, ...PROGRESS].find((state) => states.includes(state)) ?? 'delivered';
}
