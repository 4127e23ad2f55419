/** Access tokens of an account: made, shown once, revoked. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { OPERATOR_OPERATIONS } from '#contract/operators/operator-operations.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Menu } from '../../../components/menu.tsx';
import { ShownOnce } from '../../../components/shown-once.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { unixAfter } from '../../../lib/unix-after.ts';
import { useRead } from '../../../queries.ts';
import { usePreference, useSession } from '../../../services.tsx';
import { ACCESS_VALUES, NEW_TOKEN_WORDS } from '../../../text/account-fields.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import type { AccountData } from './account.tsx';

type Token = DataOf<'operator.listTokens'>['list'][number];

interface Asked {
  readonly what: 'narrow' | 'revoke';
  readonly token: Token;
}

/** Seconds; empty: it does not expire. */
const LIFETIMES = Object.keys(NEW_TOKEN_WORDS.expires_at.values);

const { request } = OPERATOR_OPERATIONS['operator.createToken'];

export function AccountTokens({ account: { account_id, kind } }: { readonly account: AccountData }) {
  const t = useText(accountsText);
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState('');
  const [asked, setAsked] = useState<Asked>();
  const load = useRead('operator.listTokens', { account_id });
  const columns = useColumns(setAsked);
  const mayManage = useSession().access.includes('manage');
  return (
    <Card
      title={t.tokens}
      isFlush
      actions={
        mayManage && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            {t.createToken}
          </Button>
        )
      }
    >
      <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<Empty icon="tokens" title={t.noTokens} />}>
        {({ list }) => (
          <Table label={t.tokens} columns={columns} rows={list} keyOf={({ token_id }) => token_id} nameOf={nameOf} />
        )}
      </Loaded>
      {isAdding && (
        <FormDialog
          title={t.createToken}
          action={t.createToken}
          name="operator.createToken"
          contract={request}
          words={NEW_TOKEN_WORDS}
          initial={{
            account_id,
            label: '',
            scopes: kind === 'operator' ? ['operator'] : ['cdn'],
            access: ['read', 'write'],
            expires_at: '',
          }}
          choices={{ scopes: kind === 'operator' ? ['operator'] : ['cdn', 'sms'], expires_at: LIFETIMES }}
          requestOf={({ expires_at: seconds = '', ...token }) => ({
            ...token,
            ...(seconds !== '' && { expires_at: unixAfter(Number(seconds), Date.now()) }),
          })}
          onDone={({ access_token }) => {
            setAdding(false);
            setMade(access_token);
          }}
          onClose={() => setAdding(false)}
        />
      )}
      {made !== '' && (
        <ShownOnce title={t.tokenTitle} secret={made} onKept={() => setMade('')}>
          <p className="help">{t.tokenUse}</p>
        </ShownOnce>
      )}
      {asked && <AskedDialog {...asked} accountId={account_id} onClose={() => setAsked(undefined)} />}
    </Card>
  );
}

interface AskedDialogProps extends Asked {
  readonly accountId: string;
  readonly onClose: () => void;
}

function AskedDialog({ what, token, accountId, onClose }: AskedDialogProps) {
  const t = useText(accountsText);
  const { token_id, scopes, access } = token;
  if (what === 'revoke') {
    return (
      <ConfirmChange
        title={t.revokeTitle(nameOf(token))}
        action={t.revoke}
        name="operator.revokeToken"
        request={{ account_id: accountId, token_id }}
        onClose={onClose}
      >
        {t.revokeHelp}
      </ConfirmChange>
    );
  }
  return (
    <FormDialog
      title={t.narrowTitle(nameOf(token))}
      help={t.narrowHelp}
      action={t.narrow}
      name="operator.narrowToken"
      contract={OPERATOR_OPERATIONS['operator.narrowToken'].request}
      words={NARROW_WORDS}
      initial={{ account_id: accountId, token_id, scopes, access }}
      onDone={onClose}
      onClose={onClose}
    />
  );
}

const { scopes: SCOPE_WORDS, access: ACCESS_WORDS } = NEW_TOKEN_WORDS;
const NARROW_WORDS = { scopes: SCOPE_WORDS, access: ACCESS_WORDS };

function nameOf({ label, token_id }: Token): string {
  return label || token_id;
}

function useColumns(onAsk: (asked: Asked) => void): readonly Column<Token>[] {
  const t = useText(accountsText);
  const locale = usePreference('locale');
  const mayManage = useSession().access.includes('manage');
  const scopes = SCOPE_WORDS.values;
  return [
    {
      id: 'label',
      title: t.label,
      phone: 'first',
      show: (token) => (
        <>
          {nameOf(token)} <span className="dim">{token.label && token.token_id}</span>
        </>
      ),
    },
    { id: 'scopes', title: t.scopes, show: (token) => token.scopes.map((one) => scopes[one][locale]).join(', ') },
    {
      id: 'access',
      title: t.access,
      phone: 'hidden',
      show: ({ access }) => <span className="dim">{access.map((one) => ACCESS_VALUES[one][locale]).join(', ')}</span>,
    },
    { id: 'used', title: t.lastUsed, show: ({ last_used_time }) => last_used_time || t.never },
    { id: 'expires', title: t.expires, phone: 'hidden', show: ({ expire_time }) => expire_time || '—' },
    {
      id: 'actions',
      title: t.actions,
      phone: 'second',
      show: (token) => {
        if (token.revoke_time !== '') return <Badge tone="idle">{t.revoked}</Badge>;
        const items = [
          { title: t.narrow, onChoose: () => onAsk({ what: 'narrow', token }) },
          { title: t.revoke, icon: 'trash', onChoose: () => onAsk({ what: 'revoke', token }) } as const,
        ];
        return mayManage && <Menu label={`${t.actions}: ${nameOf(token)}`} icon="more" groups={[{ items }]} />;
      },
    },
  ];
}
