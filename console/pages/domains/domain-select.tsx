/** One of the account's domains, or none of them; the busiest come first. */
import type { DataOf } from '#contract/operations.ts';
import type { Load } from '../../components/load.ts';
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
  return choicesOf(useRead('domain.listBrief', { page_size: SHOWN, sort: 'traffic' }));
}

/** The domain of this name, also one that is not among the busiest; `undefined`: not read yet, or there is none. */
export function useDomainNamed(name: string): DomainChoice | undefined {
  const known = useDomains().find((domain) => domain.name === name);
  const isEnabled = name !== '' && known === undefined;
  const others = choicesOf(useRead('domain.listBrief', { name, page_size: SHOWN }, { isEnabled }));
  return known ?? others.find((domain) => domain.name === name);
}

/** Names by id; without those that are not read yet, or that the account does not have. */
export function useDomainNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const known = useDomains();
  const missing = ids.filter((id) => !known.some((domain) => domain.id === id));
  const others = choicesOf(
    useRead('domain.listBrief', { domain_ids: missing, page_size: SHOWN }, { isEnabled: missing.length > 0 }),
  );
  return new Map([...known, ...others].map(({ id, name }) => [id, name]));
}

function choicesOf(load: Load<DataOf<'domain.listBrief'>>): readonly DomainChoice[] {
  if (load.kind !== 'ready') return [];
  return load.data.list.map(({ domain_id, domain_name }) => ({ id: domain_id, name: domain_name }));
}
