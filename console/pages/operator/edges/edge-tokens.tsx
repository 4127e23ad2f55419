/** Tokens with which machines enrol. */
import { useState } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { useRead } from '../../../queries.ts';
import { useText } from '../../../text/catalogue.ts';
import { edgesText } from '../../../text/edges.ts';
import { AuthorityCard } from './authority.tsx';
import { type EdgeToken, tokenState } from './token-state.ts';

export function EdgeTokens() {
  const t = useText(edgesText);
  const [revoked, setRevoked] = useState<EdgeToken>();
  const load = useRead('fleetOperator.listTokens', {});
  const columns = useColumns(setRevoked);
  return (
    <>
      <p className="help">{t.tokensHelp}</p>
      <Card title={t.views.tokens} isFlush>
        <Loaded
          load={load}
          isEmpty={({ list }) => list.length === 0}
          empty={<Empty icon="tokens" title={t.noTokens} />}
        >
          {({ list }) => (
            <Table label={t.views.tokens} columns={columns} rows={list} keyOf={({ token_id }) => token_id} />
          )}
        </Loaded>
      </Card>
      <AuthorityCard />
      {revoked && (
        <ConfirmChange
          title={t.revokeTokenTitle(revoked.token_id)}
          action={t.revokeToken}
          name="fleetOperator.revokeToken"
          request={{ token_id: revoked.token_id }}
          onClose={() => setRevoked(undefined)}
        >
          {t.revokeTokenHelp}
        </ConfirmChange>
      )}
    </>
  );
}

function useColumns(onRevoke: (token: EdgeToken) => void): readonly Column<EdgeToken>[] {
  const t = useText(edgesText);
  return [
    { id: 'token', title: t.token, phone: 'first', show: ({ token_id }) => token_id },
    { id: 'edge', title: t.edge, show: ({ edge_id }) => <span className="mono">{edge_id || t.anyEdge}</span> },
    { id: 'group', title: t.group, show: ({ group }) => group },
    { id: 'uses', title: t.uses, phone: 'hidden', show: ({ used, uses }) => t.usesOf(used, uses) },
    { id: 'expires', title: t.expires, phone: 'hidden', show: ({ expires_at }) => <Time at={expires_at * 1000} /> },
    {
      id: 'revoke',
      title: t.actions,
      phone: 'second',
      show: (token) => {
        const state = tokenState(token, Date.now());
        if (state !== 'open') return <Badge tone="idle">{t.tokenStates[state]}</Badge>;
        return <Button onClick={() => onRevoke(token)}>{t.revokeToken}</Button>;
      },
    },
  ];
}
