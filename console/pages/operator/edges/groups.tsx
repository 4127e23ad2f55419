/** Groups of edges: which domains each serves, and how many edges it has. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { GROUP_OPERATIONS } from '#contract/operators/group-operations.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Menu } from '../../../components/menu.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useRead } from '../../../queries.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { GROUP_WORDS } from '../../../text/edge-fields.ts';
import { edgesText } from '../../../text/edges.ts';

type Group = DataOf<'groupOperator.list'>['list'][number];
interface Asked {
  readonly what: 'default' | 'remove';
  readonly group: Group;
}

export function Groups() {
  const t = useText(edgesText);
  const [isAdding, setAdding] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  const load = useRead('groupOperator.list', {});
  const columns = useColumns(setAsked);
  const mayWrite = useSession().access.includes('write');
  return (
    <Card
      title={t.groupsTitle}
      isFlush
      actions={
        mayWrite && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            {t.addGroup}
          </Button>
        )
      }
    >
      <Loaded load={load}>
        {({ list }) => <Table label={t.groupsTitle} columns={columns} rows={list} keyOf={({ name }) => name} />}
      </Loaded>
      {isAdding && (
        <FormDialog
          title={t.addGroup}
          action={t.addGroup}
          name="groupOperator.set"
          contract={GROUP_OPERATIONS['groupOperator.set'].request}
          words={GROUP_WORDS}
          initial={{ name: '', default: '0' }}
          onDone={() => setAdding(false)}
          onClose={() => setAdding(false)}
        />
      )}
      {asked && <AskedDialog {...asked} onClose={() => setAsked(undefined)} />}
    </Card>
  );
}

function AskedDialog({ what, group: { name, default: isDefault }, onClose }: Asked & { readonly onClose: () => void }) {
  const t = useText(edgesText);
  if (what === 'remove') {
    return (
      <ConfirmChange
        title={t.removeGroupTitle(name)}
        action={t.removeGroup}
        name="groupOperator.remove"
        request={{ name }}
        onClose={onClose}
      >
        {t.removeGroupHelp}
      </ConfirmChange>
    );
  }
  return (
    <ConfirmChange
      title={t.changeDefaultTitle(name)}
      action={isDefault === '1' ? t.makeOrdinary : t.makeDefault}
      name="groupOperator.set"
      request={{ name, default: isDefault === '1' ? '0' : '1' }}
      onClose={onClose}
    >
      {t.changeDefaultHelp}
    </ConfirmChange>
  );
}

function useColumns(onAsk: (asked: Asked) => void): readonly Column<Group>[] {
  const t = useText(edgesText);
  const mayWrite = useSession().access.includes('write');
  return [
    { id: 'name', title: t.group, phone: 'first', show: ({ name }) => name },
    {
      id: 'default',
      title: t.groupDefault,
      show: (group) => <span className="dim">{group.default === '1' && t.isDefault}</span>,
    },
    { id: 'edges', title: t.edges, isNumber: true, show: ({ edges }) => edges },
    { id: 'domains', title: t.domains, isNumber: true, phone: 'hidden', show: ({ domains }) => domains },
    {
      id: 'actions',
      title: t.actions,
      phone: 'second',
      show: (group) => {
        const change = {
          title: group.default === '1' ? t.makeOrdinary : t.makeDefault,
          onChoose: () => onAsk({ what: 'default', group }),
        };
        const remove = {
          title: t.removeGroup,
          icon: 'trash',
          onChoose: () => onAsk({ what: 'remove', group }),
        } as const;
        return (
          mayWrite && <Menu label={`${t.actions}: ${group.name}`} icon="more" groups={[{ items: [change, remove] }]} />
        );
      },
    },
  ];
}
