/** Accounts, health and settings as operators see them, on the wire. Used by `wire.ts`. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { LedgerEntry } from '#db/tables/sms/balance.ts';
import { toModelNames } from '#lib/model-names.ts';
import { HIDDEN, type SettingInForce } from '#lib/settings.ts';
import type { Account } from '#model/account.ts';
import type { SeenControl } from '#model/control.ts';
import type { Currency } from '#model/currency.ts';
import type { DomainState } from '#model/domain.ts';
import type { SmsApp } from '#model/sms-app.ts';
import type { Look } from './wire-domain.ts';
import { healthOf, type OwnMetrics } from './wire-health.ts';
import { writeCurrency, writeEntry, writeStatus } from './wire-sms-search.ts';
import { readPage, writeFlag } from './wire-values.ts';
import type { Writers } from './writers.ts';

type DeskRoute = `operator.${'getAccount' | 'getHealth' | 'getSettings' | 'listAccounts' | 'rejectDomain'}`;

export interface AccountView {
  readonly account: Account;
  readonly domains: number;
  readonly apps: number;
  readonly tokens: number;
  /** Absent: the caller may not see it. */
  readonly balance: number | undefined;
}

interface AccountOverview {
  readonly account: AccountView;
  readonly states: ReadonlyMap<DomainState, number>;
  readonly tokenUsedAt: number | undefined;
  readonly apps: readonly SmsApp[];
  /** Absent: the caller may not see them. */
  readonly entries?: readonly LedgerEntry[];
  readonly currency: Currency;
}

interface AccountPage {
  readonly total: number;
  readonly accounts: readonly AccountView[];
  readonly currency: Currency;
}

interface HealthView extends OwnMetrics {
  readonly engine: 'sqlite' | 'postgres';
  readonly controls: readonly SeenControl[];
}

/** Characters of a control's id that tell it from others. */
const SHOWN_ID = 8;

export const READ_DESK = {
  'operator.listAccounts': ({ name, ...page }: RequestOf<'operator.listAccounts'>) => ({
    ...readPage(page),
    nameContains: name,
  }),
  'operator.getAccount': ({ account_id }) => ({ accountId: account_id }),
  'operator.rejectDomain': toModelNames<RequestOf<'operator.rejectDomain'>>,
  'operator.getHealth': () => undefined,
  'operator.getSettings': () => undefined,
} satisfies { readonly [N in DeskRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_DESK = {
  'operator.listAccounts': ({ total, accounts, currency }: AccountPage, look) => ({
    total,
    list: accounts.map((account) => writeAccount(account, look)),
    ...writeCurrency(currency),
  }),
  'operator.getAccount': ({ account, states, tokenUsedAt = 0, apps, entries, currency }: AccountOverview, look) => ({
    ...writeAccount(account, look),
    domain_states: writeStates(states),
    token_used_at: tokenUsedAt,
    sms_apps: apps.map(({ appKey, name, isEnabled }) => ({ app_key: appKey, name, status: writeStatus(isEnabled) })),
    ...(entries !== undefined && { ledger: entries.map((entry) => writeEntry(entry, look)) }),
    ...writeCurrency(currency),
  }),
  'operator.getHealth': ({ at, samples, engine, controls }: HealthView) => {
    const { database, ...health } = healthOf(samples);
    return {
      at,
      ...health,
      database: { engine, ...database },
      controls: controls.map(({ id, seenAt, facts }) => {
        return { control: writeControl(id), build: facts.build, seen_at: seenAt };
      }),
    };
  },
  'operator.getSettings': (settings: readonly SettingInForce[]) => ({
    list: settings.map(({ name, value, source }) => {
      const state = value === '' ? 'unset' : value === HIDDEN ? 'hidden' : 'shown';
      return { name, value: state === 'shown' ? value : '', state, source } as const;
    }),
  }),
} satisfies Writers<DeskRoute>;

/** The beginning of a control's id. */
export function writeControl(id: string): string {
  return id.slice(0, SHOWN_ID);
}

function writeAccount(view: AccountView, look: Look): DataOf<'operator.listAccounts'>['list'][0] {
  const { id, name, kind, createdAt, isDisabled } = view.account;
  const { domains, apps, tokens, balance } = view;
  return {
    ...{ account_id: String(id), name, kind, create_time: look.formatTime(createdAt) },
    ...{ enabled: writeFlag(!isDisabled), domains, apps, tokens },
    ...(balance !== undefined && { balance }),
  };
}

function writeStates(states: ReadonlyMap<DomainState, number>): DataOf<'operator.getAccount'>['domain_states'] {
  const of = (state: DomainState) => states.get(state) ?? 0;
  return {
    pending: of('pending'),
    open: of('open'),
    closed: of('closed'),
    rejected: of('rejected'),
    disabled: of('disabled'),
  };
}
