/**
 * The life of one part of a message, and how its parts determine the state of the message. Pure. The statements of
 * `db/tables/sms/` change states as this table says.
 */

/**
 * `submitting`: its bytes may be in flight. `uncertain`: they were sent and no answer arrived. `simulated`: the loopback
 * connector took it, not a carrier. `unknown`: no further word is expected, or the carrier says that it does not know.
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
 * What happens to a part: the states in which it counts, and the state that follows. In any other state it changes
 * nothing, so the first end holds.
 */
export const PART_EVENTS = {
  /** The part is sent now. */
  claim: { from: ['queued'], to: 'submitting' },
  /** A late answer also counts while the part waits to be sent again. */
  accept: { from: ['queued', 'submitting', 'uncertain'], to: 'submitted' },
  simulate: { from: ['submitting'], to: 'simulated' },
  refuse: { from: ['queued', 'submitting', 'uncertain'], to: 'failed' },
  /** The carrier refuses it for now, or the customer prefers a second message to none. */
  postpone: { from: ['submitting', 'uncertain'], to: 'queued' },
  /** No answer arrives. */
  lose: { from: ['submitting'], to: 'uncertain' },
  deliver: { from: ['uncertain', 'submitted'], to: 'delivered' },
  undeliver: { from: ['uncertain', 'submitted'], to: 'failed' },
  /** The validity ends, or a receipt says so. */
  expire: { from: ['queued', 'uncertain', 'submitted'], to: 'expired' },
  giveUp: { from: ['uncertain', 'submitted'], to: 'unknown' },
  optOut: { from: ['queued'], to: 'rejected' },
} as const satisfies Readonly<Record<string, { readonly from: readonly PartState[]; readonly to: PartState }>>;

export type PartEvent = keyof typeof PART_EVENTS;

const CHANGEABLE: ReadonlySet<PartState> = new Set(Object.values(PART_EVENTS).flatMap(({ from }) => from));

/** Whether no event changes the state. */
export function isFinal(state: PartState): boolean {
  return !CHANGEABLE.has(state);
}

/**
 * Time after sending in which a part that a receipt made `unknown` accepts a better word: as long as receipts are
 * awaited. docs/decisions/0422
 */
export const REVISABLE_MS = 72 * 3600 * 1000;

/** When the held price of a part is charged: when the carrier takes it, or when its receipt says that it is delivered. */
export type ChargeAt = 'submit' | 'receipt';

/** The result of submitting a part. */
export type PartOutcome =
  /** `keys`: forms of the id that receipts may have; the first is stored. */
  | { readonly kind: 'accepted'; readonly carrierId: string; readonly keys: readonly string[] }
  | { readonly kind: 'simulated' }
  /** Refused for good: the price is given back. */
  | { readonly kind: 'refused'; readonly error: string }
  /** Again from `dueAt`, a try less; without it the part keeps its place and its tries, and the connector waits. */
  | { readonly kind: 'postponed'; readonly dueAt?: number; readonly error: string }
  | { readonly kind: 'lost'; readonly error: string };

/** States in the order in which they decide a message that has a part in them: failures, then parts in flight. */
export const DECIDING_STATES = [
  'failed',
  'rejected',
  'expired',
  'queued',
  'submitting',
  'uncertain',
  'submitted',
  'unknown',
  'simulated',
  'delivered',
] as const satisfies readonly PartState[];

/** Delivered when every part is; failed when one is. `states` is not empty. */
export function messageStateOf(states: readonly PartState[]): PartState {
  return DECIDING_STATES.find((state) => states.includes(state)) ?? 'delivered';
}
