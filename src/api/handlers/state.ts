/** A domain's change of state as its customer or an operator asks for it. Pure. */
import { ACTION_LABELS, DOMAIN_STATUS_LABELS, PENDING_LABEL } from '#contract/domains/labels.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Localized } from '#contract/schema/locale.ts';
import type { Domain, DomainState } from '#model/domain.ts';
import { type DomainAction, nextState, statesThatAllow } from '#model/transition.ts';

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

export function changeState(domain: Domain, action: StateAction): Domain {
  if (domain.state === AIMS[action]) return domain;
  const next = nextState(domain.state, action);
  if (next.kind === 'state') return { ...domain, state: next.state };
  throw new ServiceError('domainStatusRefused', {
    domainId: domain.id,
    state: LABELS[domain.state],
    allowed: either(statesThatAllow(action).map((state) => LABELS[state])),
    action: ACTION_LABELS[action],
  });
}

/** Stored states, with the codes that customers know them by. */
const LABELS: Readonly<Record<DomainState, Localized>> = {
  pending: withCode(PENDING_LABEL, '1'),
  open: withCode({ 'zh-CN': '已启用', en: 'in service' }, '1, 2'),
  closed: withCode(DOMAIN_STATUS_LABELS['0'], '0'),
  rejected: withCode(DOMAIN_STATUS_LABELS['5'], '5'),
  disabled: withCode(DOMAIN_STATUS_LABELS['6'], '6'),
};

function withCode(label: Localized, code: string): Localized {
  return { 'zh-CN': `${label['zh-CN']}（${code}）`, en: `${label.en} (${code})` };
}

function either(labels: readonly Localized[]): Localized {
  return {
    'zh-CN': labels.map((label) => label['zh-CN']).join('或'),
    en: labels.map(({ en }) => en).join(' or '),
  };
}
