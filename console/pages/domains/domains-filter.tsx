/** What the list is narrowed to. It is in the address, and follows the typing when that pauses. */
import { SearchInput } from '../../components/input.tsx';
import { Select } from '../../components/select.tsx';
import { useTyped } from '../../lib/use-typed.ts';
import { DOMAIN_SORTS, DOMAIN_STATUSES, DOMAIN_TYPES, type DomainsQuery } from '../../routes/domains.ts';
import { useText } from '../../text/catalogue.ts';
import { domainsText } from '../../text/domains.ts';

interface DomainsFilterProps {
  readonly query: DomainsQuery;
  readonly onChange: (query: DomainsQuery) => void;
}

export function DomainsFilter({ query, onChange }: DomainsFilterProps) {
  const t = useText(domainsText);
  const typed = useTyped(query.name, (name) => onChange({ ...query, name }));
  return (
    <search className="row">
      <SearchInput label={t.filter} {...typed} />
      <Select
        label={t.status}
        choices={DOMAIN_STATUSES.map((value) => ({ value, label: t.statuses[value] }))}
        value={query.status}
        onChange={(status) => onChange({ ...query, status })}
      />
      <Select
        label={t.type}
        choices={DOMAIN_TYPES.map((value) => ({ value, label: t.types[value] }))}
        value={query.type}
        onChange={(type) => onChange({ ...query, type })}
      />
      <Select
        label={t.sort}
        choices={DOMAIN_SORTS.map((value) => ({ value, label: t.sorts[value] }))}
        value={query.sort}
        onChange={(sort) => onChange({ ...query, sort })}
      />
    </search>
  );
}
