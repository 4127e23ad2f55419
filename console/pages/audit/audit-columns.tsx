/** What a list of changes says of each. */
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { FewNames } from '../../components/few-names.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { auditText } from '../../text/audit.ts';
import { useText } from '../../text/catalogue.ts';

export type AuditRow = DataOf<'audit.list'>['list'][number];

/** `pathOf`: where a row leads. */
export function useAuditColumns<R extends AuditRow>(pathOf: (row: R) => string): readonly Column<R>[] {
  const t = useText(auditText);
  return [
    {
      id: 'what',
      title: t.what,
      phone: 'first',
      show: (row) => (
        <Link href={pathOf(row)} className="mono">
          {row.operation}
        </Link>
      ),
    },
    { id: 'target', title: t.target, show: ({ target_name, target_id }) => target_name || target_id },
    { id: 'changed', title: t.changed, phone: 'hidden', show: ({ changed }) => <FewNames names={changed} /> },
    { id: 'who', title: t.who, show: (row) => <Actor {...row} /> },
    { id: 'address', title: t.from, phone: 'hidden', show: ({ address }) => <span className="mono">{address}</span> },
    { id: 'when', title: t.when, phone: 'second', show: ({ at }) => <Time at={at} isRelative /> },
  ];
}

export function Actor({ actor, actor_name }: Pick<AuditRow, 'actor' | 'actor_name'>) {
  const t = useText(auditText);
  return (
    <>
      {actor_name} <span className="dim">{t.actors[actor]}</span>
    </>
  );
}
