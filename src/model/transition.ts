/** Which action leads from which stored state to which: the one table of a domain's life. */
import { DOMAIN_STATES, type DomainState } from './domain.ts';

/**
 * `close`, `open` and `resubmit` are the customer's (`resubmit`: any accepted change of a domain that is rejected or still
 * waits); `approve`, `reject`, `disable` and `enable` the operator's.
 */
export type DomainAction = 'close' | 'open' | 'resubmit' | 'approve' | 'reject' | 'disable' | 'enable';

export type Transition = { readonly kind: 'state'; readonly state: DomainState } | { readonly kind: 'refused' };

/** How a submitted domain is approved: at once, or by an operator. docs/decisions/0012 */
export type Review = 'auto' | 'manual';

/** State → action → next state. Actions that are not listed are refused. */
const TRANSITIONS: Readonly<Record<DomainState, Partial<Record<DomainAction, DomainState>>>> = {
  pending: { resubmit: 'pending', approve: 'open', reject: 'rejected', disable: 'disabled' },
  open: { close: 'closed', reject: 'rejected', disable: 'disabled' },
  closed: { open: 'open', disable: 'disabled' },
  rejected: { resubmit: 'pending', approve: 'open', disable: 'disabled' },
  disabled: { enable: 'open' },
};

/** An action that leads to the state the domain is in is refused too; whether that is an error is the caller's to say. */
export function nextState(state: DomainState, action: DomainAction): Transition {
  const next = TRANSITIONS[state][action];
  return next === undefined ? { kind: 'refused' } : { kind: 'state', state: next };
}

/** Where an action is not refused. */
export function statesThatAllow(action: DomainAction): readonly DomainState[] {
  return DOMAIN_STATES.filter((state) => TRANSITIONS[state][action] !== undefined);
}

/** Where a domain begins. */
export function stateWhenAdded(review: Review): DomainState {
  return review === 'auto' ? 'open' : 'pending';
}

/** State after the customer changed a setting: an approved domain needs no new review, any other is decided anew. */
export function stateWhenChanged(state: DomainState, review: Review): DomainState {
  const resubmitted = nextState(state, 'resubmit');
  return resubmitted.kind === 'state' ? stateWhenAdded(review) : state;
}

/** Settings of a disabled domain stand still until an operator enables it. */
export function canChangeSettings(state: DomainState): boolean {
  return state !== 'disabled';
}
