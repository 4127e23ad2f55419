/** What an account has, and what it uses of its limits. */
import { useState } from 'react';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { ACCOUNT_OPERATIONS } from '#contract/operators/account-operations.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Facts } from '../../../components/detail.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Time } from '../../../components/time.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { formatNumber } from '../../../lib/format.ts';
import { formatAmount } from '../../../lib/format-amount.ts';
import { useRead } from '../../../queries.ts';
import { auditPath } from '../../../routes/account.ts';
import { usePreference, useServices, useSession } from '../../../services.tsx';
import { LIMIT_WORDS } from '../../../text/account-fields.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import type { AccountData } from './account.tsx';
import { changedLimits, limitValues } from './limits.ts';

const EVERY_MS = 30_000;
const STATES = ['open', 'pending', 'closed', 'rejected', 'disabled'] as const;

export function AccountOverview({ account }: { readonly account: AccountData }) {
  const t = useText(accountsText);
  return (
    <div className="columns">
      <Card
        title={t.facts}
        actions={
          <LinkButton icon="audit" to={auditPath({ account: account.account_id }, 'allAudit')}>
            {t.changes}
          </LinkButton>
        }
      >
        <AccountFacts account={account} />
      </Card>
      {account.kind === 'customer' && <LimitsCard accountId={account.account_id} />}
    </div>
  );
}

function AccountFacts({ account }: { readonly account: AccountData }) {
  const t = useText(accountsText);
  const locale = usePreference('locale');
  const { account_id, kind, create_time, domain_states, apps, tokens, token_used_at, balance } = account;
  const states = STATES.filter((state) => domain_states[state] > 0);
  return (
    <Facts
      facts={[
        { title: t.id, value: account_id },
        { title: t.kind, value: t.kinds[kind] },
        { title: t.createdAt, value: create_time },
        {
          title: t.domains,
          value: states.map((state) => t.domainStates[state](domain_states[state])).join(', ') || '0',
        },
        { title: t.apps, value: formatNumber(apps, locale) },
        { title: t.tokens, value: formatNumber(tokens, locale) },
        { title: t.usedAt, value: token_used_at === 0 ? t.never : <Time at={token_used_at} isRelative /> },
        { title: t.balance, value: balance === undefined ? undefined : formatAmount(balance, account, locale) },
      ]}
    />
  );
}

function LimitsCard({ accountId }: { readonly accountId: string }) {
  const t = useText(accountsText);
  const { toasts } = useServices();
  const [isOpen, setOpen] = useState(false);
  const load = useRead('operator.getAccountLimits', { account_id: accountId }, { everyMs: EVERY_MS });
  const mayManage = useSession().access.includes('manage');
  return (
    <Card
      title={t.limits}
      actions={mayManage && load.kind === 'ready' && <Button onClick={() => setOpen(true)}>{t.setLimits}</Button>}
    >
      <Loaded load={load} lines={6}>
        {(limits) => (
          <>
            <LimitFacts limits={limits} />
            <p className="help">{t.limitsHelp}</p>
            {isOpen && (
              <FormDialog
                title={t.setLimits}
                action={t.setLimits}
                name="operator.setAccountLimits"
                contract={ACCOUNT_OPERATIONS['operator.setAccountLimits'].request}
                words={LIMIT_WORDS}
                initial={{ account_id: accountId, ...limitValues(limits) }}
                choices={{ over_bandwidth: ['nothing', 'refuse'] }}
                requestOf={(values): CallOf<'operator.setAccountLimits'> => changedLimits(limits, values)}
                onDone={() => {
                  toasts.show({ about: `account ${accountId}`, title: t.limitsSet });
                  setOpen(false);
                }}
                onClose={() => setOpen(false)}
              />
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}

function LimitFacts({ limits }: { readonly limits: DataOf<'operator.getAccountLimits'> }) {
  const t = useText(accountsText);
  const locale = usePreference('locale');
  const { requests_per_second, bandwidth_mbps, over_since, over_bandwidth } = limits;
  const orNone = (limit: number) => (limit === 0 ? t.unlimited : formatNumber(limit, locale));
  const quota = (name: 'domains' | 'purge_urls' | 'purge_directories' | 'prefetch_urls') => ({
    title: LIMIT_WORDS[name].title[locale],
    value: t.ofLimit(formatNumber(limits[name].used, locale), formatNumber(limits[name].limit, locale)),
  });
  return (
    <>
      {over_since > 0 && (
        <Notice tone="warn">
          {t.overSince} <Time at={over_since * 1000} isRelative />
        </Notice>
      )}
      <Facts
        facts={[
          quota('domains'),
          quota('purge_urls'),
          quota('purge_directories'),
          quota('prefetch_urls'),
          { title: LIMIT_WORDS.requests_per_second.title[locale], value: orNone(requests_per_second) },
          { title: LIMIT_WORDS.bandwidth_mbps.title[locale], value: orNone(bandwidth_mbps) },
          {
            title: LIMIT_WORDS.over_bandwidth.title[locale],
            value: LIMIT_WORDS.over_bandwidth.values[over_bandwidth][locale],
          },
        ]}
      />
    </>
  );
}
