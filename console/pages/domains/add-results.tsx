/** What became of each line of a list of domains, and the records that point them here. */
import { Link } from 'wouter';
import { Badge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyBox, CopyButton } from '../../components/copy.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useRead } from '../../queries.ts';
import { domainPath } from '../../routes/domains.ts';
import { PATHS } from '../../routes.ts';
import { addDomainText } from '../../text/add-domain.ts';
import { useText } from '../../text/catalogue.ts';
import { zoneLine } from './domain-names.ts';
import type { AddedRow } from './use-add-all.ts';

interface AddResultsProps {
  readonly rows: readonly AddedRow[];
  readonly isBusy: boolean;
  /** Back to the form, with the lines that were refused. */
  readonly onCorrect: () => void;
}

export function AddResults({ rows, isBusy, onCorrect }: AddResultsProps) {
  const t = useText(addDomainText);
  const ids = rows.flatMap(({ id }) => id ?? []);
  const request = { domain_ids: ids, page_size: Math.max(ids.length, 1) };
  const load = useRead('domain.listBrief', request, { isEnabled: !isBusy && ids.length > 0 });
  const added = load.kind === 'ready' ? load.data.list : [];
  const columns = useColumns(new Map(added.map(({ domain_id, cname }) => [domain_id, cname])));
  const refused = rows.filter(({ problem }) => problem !== undefined).length;
  return (
    <>
      <Card title={t.results} note={<span role="status">{t.summary(ids.length, refused, rows.length)}</span>} isFlush>
        <Table label={t.results} columns={columns} rows={rows} keyOf={({ name }) => name} />
      </Card>
      {added.length > 0 && (
        <Card title={t.pointTitle}>
          <div className="stack">
            <p className="help">{t.pointManyHelp}</p>
            <CopyBox
              text={added.map(({ domain_name, cname }) => zoneLine(domain_name, cname)).join('\n')}
              what={t.bind}
            />
          </div>
        </Card>
      )}
      {!isBusy && (
        <div className="row">
          <LinkButton kind="primary" to={PATHS.domains}>
            {t.toDomains}
          </LinkButton>
          {refused > 0 && <Button onClick={onCorrect}>{t.correct(refused)}</Button>}
        </div>
      )}
    </>
  );
}

function useColumns(cnames: ReadonlyMap<string, string>): readonly Column<AddedRow>[] {
  const t = useText(addDomainText);
  return [
    {
      id: 'name',
      title: t.names,
      phone: 'first',
      show: ({ name, id }) =>
        id === undefined ? (
          <span className="mono">{name}</span>
        ) : (
          <Link href={domainPath(id)} className="mono">
            {name}
          </Link>
        ),
    },
    { id: 'result', title: t.result, phone: 'second', show: (row) => <Result row={row} /> },
    {
      id: 'more',
      title: t.recordValue,
      show: ({ id = '', problem, warnings = [] }) => {
        const cname = cnames.get(id);
        if (problem !== undefined) return problem.text;
        return (
          <>
            {cname && (
              <>
                <span className="mono">{cname}</span> <CopyButton text={cname} what={`${t.recordValue} ${cname}`} />
              </>
            )}
            {warnings.map(({ text }) => (
              <p key={text} className="help">
                {text}
              </p>
            ))}
          </>
        );
      },
    },
  ];
}

function Result({ row: { id, problem } }: { readonly row: AddedRow }) {
  const t = useText(addDomainText);
  if (problem !== undefined) return <Badge tone="bad">{t.states.refused}</Badge>;
  return id === undefined ? <Badge tone="busy">{t.states.waiting}</Badge> : <Badge tone="ok">{t.states.added}</Badge>;
}
