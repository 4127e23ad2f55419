/** The filter of changes, by operation and by target, each as the service narrows it. */
import type { ReactNode } from 'react';
import { SearchInput } from '../../components/input.tsx';
import { Select } from '../../components/select.tsx';
import { useTyped } from '../../lib/use-typed.ts';
import type { AuditQuery } from '../../routes/account.ts';
import { auditText } from '../../text/audit.ts';
import { useText } from '../../text/catalogue.ts';

interface AuditFilterProps {
  readonly query: AuditQuery;
  readonly onChange: (query: AuditQuery) => void;
  /** Names of the targets that there are, by their kinds. */
  readonly kinds: Readonly<Record<string, string>>;
  /** Fields before these. */
  readonly children?: ReactNode;
}

export function AuditFilter({ query, onChange, kinds, children }: AuditFilterProps) {
  const t = useText(auditText);
  const operation = useTyped(query.operation, (typed) => onChange({ ...query, operation: typed.trim() }));
  const target = useTyped(query.target_id, (typed) => onChange({ ...query, target_id: typed.trim() }));
  const choices = Object.entries(kinds).map(([value, label]) => ({ value, label }));
  return (
    <search className="row">
      {children}
      <SearchInput label={t.operation} {...operation} />
      <Select
        label={t.kind}
        choices={[{ value: '', label: t.anyKind }, ...choices]}
        value={query.target_kind}
        onChange={(target_kind) => onChange({ ...query, target_kind })}
      />
      <SearchInput label={t.id} {...target} />
    </search>
  );
}
