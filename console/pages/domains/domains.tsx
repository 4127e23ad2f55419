/** The account's domains: filtered, sorted and read on by the service; some can be closed or opened together. */
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Page } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { usePages } from '../../queries.ts';
import { type DomainsQuery, domainPath, domainsPath, readDomainsQuery } from '../../routes/domains.ts';
import { ADD_DOMAIN_PATH, PATHS } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainsText } from '../../text/domains.ts';
import { ChosenBar } from './chosen-bar.tsx';
import { useDomainColumns } from './domain-columns.tsx';
import { DomainsFilter } from './domains-filter.tsx';

export type BriefDomain = DataOf<'domain.listBrief'>['list'][number];

const PAGE_SIZE = 50;

export function Domains() {
  const t = useText(domainsText);
  const query = readDomainsQuery(useSearch());
  const [, navigate] = useLocation();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const pages = usePages('domain.listBrief', requestOf(query), 'after');
  const columns = useDomainColumns();
  const mayWrite = useSession().access.includes('write');
  return (
    <Page
      title={t.title}
      note={
        <span className="dim" role="status">
          {pages.first && t.count(pages.first.total)}
        </span>
      }
      actions={
        mayWrite && (
          <LinkButton kind="primary" icon="plus" to={ADD_DOMAIN_PATH}>
            {t.add}
          </LinkButton>
        )
      }
    >
      <DomainsFilter query={query} onChange={(next) => navigate(domainsPath(next), { replace: true })} />
      <Card isFlush>
        <Loaded load={pages.load} lines={10} isEmpty={(rows) => rows.length === 0} empty={<NoDomains query={query} />}>
          {(rows) => (
            <>
              <Table
                label={t.title}
                columns={columns}
                rows={rows}
                keyOf={({ domain_id }) => domain_id}
                nameOf={({ domain_name }) => domain_name}
                onOpen={({ domain_id }) => navigate(domainPath(domain_id))}
                {...(mayWrite && { chosen: { keys: chosen, onChange: setChosen } })}
              />
              {pages.hasMore && <MoreButton isBusy={pages.isBusy} onMore={pages.onMore} />}
              <ChosenBar
                domains={rows.filter(({ domain_id }) => chosen.has(domain_id))}
                onDone={() => setChosen(new Set())}
              />
            </>
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

function requestOf({ name, status, type, sort }: DomainsQuery): CallOf<'domain.listBrief'> {
  return {
    ...(name !== '' && { name }),
    ...(status !== '' && { statuses: [status] }),
    ...(type !== '' && { cdn_type: type }),
    sort,
    with: ['traffic', 'hit_ratio', 'spark'],
    page_size: PAGE_SIZE,
  };
}

/** Either there are none at all, or the filter hides them. */
function NoDomains({ query: { name, status, type } }: { readonly query: DomainsQuery }) {
  const t = useText(domainsText);
  if (name + status + type !== '') {
    return <Empty icon="search" title={t.noMatch} action={<Link href={PATHS.domains}>{t.clear}</Link>} />;
  }
  return (
    <Empty
      icon="domains"
      title={t.emptyTitle}
      text={t.emptyText}
      action={
        <LinkButton icon="plus" to={ADD_DOMAIN_PATH}>
          {t.add}
        </LinkButton>
      }
    />
  );
}
