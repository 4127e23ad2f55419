/** The lines of the last 24 hours that control has: the search is in the address, so that it can be passed on. */
import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Empty } from '../../components/loaded.tsx';
import { Select } from '../../components/select.tsx';
import { readLocal, writeLocal } from '../../lib/zoned-time.ts';
import type { LogSearchQuery } from '../../routes/delivery.ts';
import { isSpan } from '../../routes/statistics.ts';
import { useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { logsText } from '../../text/logs.ts';
import type { DomainChoice } from '../domains/domain-select.tsx';
import { lastSeconds, type TimeRange } from '../overview/time-range.ts';
import styles from './filter.module.css';
import { FilterFields } from './filter-fields.tsx';
import { readFilter, writeFilter } from './line.ts';
import { SearchResults } from './search-results.tsx';

interface LogSearchProps {
  readonly domain: DomainChoice;
  readonly search: LogSearchQuery | undefined;
  readonly onSearch: (search: LogSearchQuery) => void;
}

const SPANS = ['900', '3600', '21600', '86400', 'own'] as const;
type Span = (typeof SPANS)[number];

export function LogSearch({ domain, search, onSearch }: LogSearchProps) {
  const t = useText(logsText);
  const zone = useZone();
  const [filter, setFilter] = useState(readFilter(search?.filter ?? ''));
  const [span, setSpan] = useState<Span>(search === undefined ? '3600' : 'own');
  const [ends, setEnds] = useState(() => writeEnds(search ?? lastSeconds(3600, Date.now()), zone));
  const own = { from: secondsOf(ends.from, zone), to: secondsOf(ends.to, zone) };
  const isWrong = span === 'own' && !isSpan(own);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isWrong) return;
    const { from, to } = span === 'own' ? own : lastSeconds(Number(span), Date.now());
    setEnds(writeEnds({ from, to }, zone));
    onSearch({ filter: writeFilter(filter), from, to });
  };
  return (
    <>
      <form className={styles['filter']} onSubmit={submit}>
        <FilterFields filter={filter} onChange={setFilter} />
        <Field label={t.span}>
          {(ids) => (
            <Select
              ids={ids}
              choices={SPANS.map((value) => ({ value, label: t.spans[value] }))}
              value={span}
              onChange={setSpan}
            />
          )}
        </Field>
        {span === 'own' && <Ends ends={ends} onChange={setEnds} isWrong={isWrong} />}
        <div className="row">
          <Button kind="primary" icon="search" type="submit" disabled={isWrong}>
            {t.search}
          </Button>
        </div>
      </form>
      {search === undefined ? (
        <Card>
          <Empty icon="search" title={t.notSearched} text={t.notSearchedHelp} />
        </Card>
      ) : (
        <SearchResults key={JSON.stringify(search)} domain={domain} search={search} />
      )}
    </>
  );
}

interface EndsProps {
  /** Local times, as their fields have them. */
  readonly ends: Readonly<Record<keyof TimeRange, string>>;
  readonly onChange: (ends: EndsProps['ends']) => void;
  readonly isWrong: boolean;
}

function Ends({ ends, onChange, isWrong }: EndsProps) {
  const t = useText(logsText);
  const names = Object.keys(ends) as (keyof TimeRange)[]; // its own
  return names.map((name) => (
    <Field key={name} label={t[name]} error={isWrong && name === 'to' ? t.spanProblem : undefined}>
      {(ids) => (
        <TextInput
          ids={ids}
          type="datetime-local"
          value={ends[name]}
          onChange={(event) => onChange({ ...ends, [name]: event.target.value })}
        />
      )}
    </Field>
  ));
}

function writeEnds({ from, to }: TimeRange, zone: string) {
  return { from: writeLocal(from * 1000, zone), to: writeLocal(to * 1000, zone) };
}

/** 0: it is no time. */
function secondsOf(text: string, zone: string): number {
  return (readLocal(text, zone) ?? 0) / 1000;
}
