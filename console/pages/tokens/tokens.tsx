/** Access tokens of the account in view: what each may do, and when it was last used. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Menu } from '../../components/menu.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { formatTime } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { tokensText } from '../../text/tokens.ts';
import { CreateDialog } from './create-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';

export type Token = DataOf<'token.list'>['list'][number];

interface Asked {
  readonly act: 'rotate' | 'revoke';
  readonly token: Token;
}

export function Tokens() {
  const t = useText(tokensText);
  const load = useRead('token.list', {});
  const [isCreating, setCreating] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  const mayManage = useSession().access.includes('manage');
  const current = load.kind === 'ready' ? load.data.current : '';
  const columns = useColumns(current, setAsked);
  const close = () => setAsked(undefined);
  return (
    <Page
      title={t.title}
      actions={
        mayManage && (
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            {t.create}
          </Button>
        )
      }
    >
      <p className="help">{t.help}</p>
      <Card isFlush>
        <Loaded
          load={load}
          lines={6}
          isEmpty={({ list }) => list.length === 0}
          empty={<Empty icon="tokens" title={t.none} text={t.noneHelp} />}
        >
          {({ list }) => <Table label={t.title} columns={columns} rows={list} keyOf={({ token_id }) => token_id} />}
        </Loaded>
      </Card>
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
      {asked?.act === 'rotate' && <RotateDialog token={asked.token} onClose={close} />}
      {asked?.act === 'revoke' && (
        <ConfirmChange
          name="token.revoke"
          request={{ token_id: asked.token.token_id }}
          title={t.revokeTitle(asked.token.label || t.unnamed)}
          action={t.revoke}
          onClose={close}
        >
          {t.revokeHelp}
        </ConfirmChange>
      )}
    </Page>
  );
}

function useColumns(current: string, onAsk: (asked: Asked) => void): readonly Column<Token>[] {
  const t = useText(tokensText);
  return [
    { id: 'label', title: t.label, phone: 'first', show: (token) => <Label token={token} current={current} /> },
    { id: 'scopes', title: t.scopes, show: ({ scopes }) => scopes.map((scope) => t.scopeNames[scope]).join(', ') },
    {
      id: 'access',
      title: t.access,
      phone: 'hidden',
      show: ({ access }) => <span className="mono">{access.join(', ')}</span>,
    },
    {
      id: 'domains',
      title: t.domains,
      phone: 'hidden',
      show: ({ domain_ids: { length } }) => (length === 0 ? t.allDomains : t.someDomains(length)),
    },
    { id: 'expires', title: t.expires, phone: 'hidden', show: ({ expire_time }) => expire_time || t.lifetimes[''] },
    {
      id: 'used',
      title: t.used,
      show: ({ last_used_time }) => last_used_time || <span className="dim">{t.never}</span>,
    },
    {
      id: 'actions',
      title: '',
      phone: 'second',
      isNumber: true,
      show: (token) => {
        const item = (act: Asked['act']) => ({ title: t[act], onChoose: () => onAsk({ act, token }) });
        if (token.revoke_time !== '') return null;
        return (
          <Menu label={token.label || t.unnamed} icon="more" groups={[{ items: [item('rotate'), item('revoke')] }]} />
        );
      },
    },
  ];
}

function Label({ token: { token_id, label, revoke_time, expire_time }, current }: { token: Token; current: string }) {
  const t = useText(tokensText);
  const { time_zone: zone } = useSession();
  const isExpired = expire_time !== '' && expire_time <= formatTime(Date.now(), { locale: 'en', zone });
  return (
    <>
      {label || <span className="dim">{t.unnamed}</span>}{' '}
      {token_id === current && <span className="dim">({t.states.current})</span>}
      {revoke_time !== '' && <Badge tone="idle">{t.states.revoked}</Badge>}
      {revoke_time === '' && isExpired && <Badge tone="warn">{t.states.expired}</Badge>}
    </>
  );
}
