/** The authority that the certificates of edges are of, and its change in two steps. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { useRead } from '../../../queries.ts';
import { useText } from '../../../text/catalogue.ts';
import { edgesText } from '../../../text/edges.ts';

type Authorities = DataOf<'fleetOperator.getAuthority'>['authorities'];

export function AuthorityCard() {
  const t = useText(edgesText);
  const load = useRead('fleetOperator.getAuthority', {});
  if (load.kind === 'ready' && load.data.authorities.length === 0) return null;
  return (
    <Card title={t.authority} isFlush>
      <Loaded load={load}>{({ authorities }) => <Shown authorities={authorities} />}</Loaded>
    </Card>
  );
}

function Shown({ authorities }: { readonly authorities: Authorities }) {
  const t = useText(edgesText);
  const [isAsked, setAsked] = useState(false);
  const step = authorities.length > 1 ? 'finish' : 'begin';
  const columns: readonly Column<Authorities[number]>[] = [
    { id: 'pin', title: t.pin, phone: 'first', show: ({ pin }) => <span className="mono wrap">{pin}</span> },
    { id: 'ends', title: t.ends, show: ({ expires_at }) => <Time at={expires_at * 1000} /> },
  ];
  return (
    <>
      <Table label={t.authority} columns={columns} rows={authorities} keyOf={({ key_id }) => key_id} />
      <div className="row pad">
        <span className="help">{t.authorityHelp}</span>
        <span className="grow" />
        <Button onClick={() => setAsked(true)}>{t.rotate[step]}</Button>
      </div>
      {isAsked && (
        <ConfirmChange
          name="fleetOperator.rotateAuthority"
          request={{ step }}
          title={t.rotateTitle[step]}
          action={t.rotate[step]}
          onClose={() => setAsked(false)}
        >
          {t.rotateHelp[step]}
        </ConfirmChange>
      )}
    </>
  );
}
