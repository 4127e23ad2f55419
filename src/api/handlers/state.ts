/** A domain's change of state as its customer or an operator asks for it. Pure. */
import { ServiceError } from '#contract/errors.ts';
import type { Domain, DomainState } from '#model/domain.ts';
import { type DomainAction, nextState } from '#model/transition.ts';

type StateAction = Exclude<DomainAction, 'resubmit'>;

/** Where each action leads: asking for the state that is there already changes nothing and is no error. */
const AIMS: Readonly<Record<StateAction, DomainState>> = {
  close: 'closed',
  open: 'open',
  approve: 'open',
  enable: 'open',
  reject: 'rejected',
  disable: 'disabled',
};

/** `statusCode` is what the caller asked for, to name it when it is refused. */
export function changeState(domain: Domain, action: StateAction, statusCode: string): Domain {
  if (domain.state === AIMS[action]) return domain;
  const next = nextState(domain.state, action);
  if (next.kind === 'state') return { ...domain, state: next.state };
  throw new ServiceError('domainStatusRefused', { domainId: domain.id, domainStatus: statusCode });
}
