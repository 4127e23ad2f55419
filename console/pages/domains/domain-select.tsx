/** One of the account's domains, or none of them; the busiest come first. */
import { Select } from '../../components/select.tsx';
import { useRead } from '../../queries.ts';

export interface DomainChoice {
  readonly name: string;
  /** Empty: it is not among those that are shown. */
  readonly id: string;
}

interface DomainSelectProps {
  readonly label: string;
  /** Name of the choice of none. */
  readonly none: string;
  /** Name of the domain; empty: none. */
  readonly value: string;
  readonly onChoose: (domain: DomainChoice | undefined) => void;
}

const SHOWN = 100;

/** A domain that is not among those is shown too: it may be a deleted one. */
export function DomainSelect({ label, none, value, onChoose }: DomainSelectProps) {
  const domains = useDomains();
  const names = domains.map(({ name }) => name);
  const shown = value === '' || names.includes(value) ? names : [value, ...names];
  const choices = [{ value: '', label: none }, ...shown.map((name) => ({ value: name, label: name }))];
  const choose = (name: string) =>
    onChoose(name === '' ? undefined : (domains.find((domain) => domain.name === name) ?? { name, id: '' }));
  return <Select {...{ label, choices, value }} onChange={choose} />;
}

export function useDomains(): readonly DomainChoice[] {
  const load = useRead('domain.listBrief', { page_size: SHOWN, sort: 'traffic' });
  return load.kind === 'ready'
    ? load.data.list.map(({ domain_id, domain_name }) => ({ id: domain_id, name: domain_name }))
    : [];
}
