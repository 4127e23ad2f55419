/** Browsers in which the person is signed in: each can be signed out, or all but this one. */
import { useState } from 'react';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { securityText } from '../../text/security.ts';
import { browserOf } from './browser-of.ts';

type SessionRow = DataOf<'session.list'>['list'][number];

export function SessionsTab() {
  const t = useText(securityText);
  const load = useRead('session.list', {}, { everyMs: 60_000 });
  const [ended, setEnded] = useState<CallOf<'session.revoke'>>();
  const columns = useColumns((session_id) => setEnded({ session_id }));
  const hasOthers = load.kind === 'ready' && load.data.list.length > 1;
  const words = ended?.others === undefined ? t.endSessionTitle : t.endOthersTitle;
  return (
    <Card
      title={t.sessions}
      note={t.sessionsHelp}
      isFlush
      actions={hasOthers && <Button onClick={() => setEnded({ others: '1' })}>{t.endOthers}</Button>}
    >
      <Loaded load={load}>
        {({ list }) => (
          <Table label={t.sessions} columns={columns} rows={list} keyOf={({ session_id }) => session_id} />
        )}
      </Loaded>
      {ended && (
        <ConfirmChange
          name="session.revoke"
          request={ended}
          title={words}
          action={ended.others === undefined ? t.endSession : t.endOthers}
          onClose={() => setEnded(undefined)}
        >
          {ended.others === undefined ? t.endSessionHelp : t.endOthersHelp}
        </ConfirmChange>
      )}
    </Card>
  );
}

function useColumns(onEnd: (sessionId: string) => void): readonly Column<SessionRow>[] {
  const t = useText(securityText);
  return [
    {
      id: 'browser',
      title: t.browser,
      phone: 'first',
      show: ({ user_agent, current }) => (
        <>
          <Browser agent={user_agent} /> {current === '1' && <Badge tone="ok">{t.current}</Badge>}
        </>
      ),
    },
    { id: 'address', title: t.address, show: ({ address }) => <span className="mono">{address}</span> },
    { id: 'method', title: t.method, phone: 'hidden', show: ({ method }) => t.methods[method] },
    { id: 'since', title: t.signedIn, phone: 'hidden', show: ({ created_at }) => <Time at={created_at} isRelative /> },
    { id: 'seen', title: t.seen, show: ({ seen_at }) => <Time at={seen_at} isRelative /> },
    { id: 'ends', title: t.ends, phone: 'hidden', show: ({ expires_at }) => <Time at={expires_at} /> },
    {
      id: 'end',
      title: '',
      phone: 'second',
      isNumber: true,
      show: ({ session_id, current }) =>
        current === '0' && (
          <Button kind="plain" onClick={() => onEnd(session_id)}>
            {t.endSession}
          </Button>
        ),
    },
  ];
}

function Browser({ agent }: { readonly agent: string }) {
  const t = useText(securityText);
  const { browser, system } = browserOf(agent);
  const words = browser === undefined ? t.unknownBrowser : system === undefined ? browser : t.on(browser, system);
  return <span title={agent}>{words}</span>;
}
