/** The account's live domains, and a page that is about one of them. */
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Select } from '../../components/select.tsx';
import { useRead } from '../../queries.ts';
import { ADD_DOMAIN_PATH } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { streamsText } from '../../text/streams.ts';
import { StreamsTabs, type StreamsView } from './streams-tabs.tsx';

export function useLiveDomains() {
  return useRead('domain.listBrief', { cdn_type: '4', page_size: 100, sort: 'name' });
}

interface LiveDomainPageProps {
  readonly open: StreamsView;
  /** Name of the domain as the address has it; empty: the first one. */
  readonly asked: string;
  readonly pathOf: (domain: string) => string;
  readonly children: (domain: string) => ReactNode;
}

export function LiveDomainPage({ open, asked, pathOf, children }: LiveDomainPageProps) {
  const t = useText(streamsText);
  const [, navigate] = useLocation();
  const load = useLiveDomains();
  const known = load.kind === 'ready' ? load.data.list.map(({ domain_name }) => domain_name) : [];
  // One that is not among them may have been deleted: what it has recorded is still there.
  const names = asked === '' || known.includes(asked) ? known : [asked, ...known];
  const domain = asked || names[0];
  const choose = domain !== undefined && (
    <Select
      label={t.domain}
      choices={names.map((value) => ({ value, label: value }))}
      value={domain}
      onChange={(name) => navigate(pathOf(name), { replace: true })}
    />
  );
  return (
    <Page title={t.title} actions={choose}>
      <StreamsTabs open={open} domain={asked} />
      {domain === undefined ? (
        <Loaded load={load} empty={<NoDomain />} isEmpty={({ list }) => list.length === 0}>
          {() => null}
        </Loaded>
      ) : (
        children(domain)
      )}
    </Page>
  );
}

export function NoDomain() {
  const t = useText(streamsText);
  const mayWrite = useSession().access.includes('write');
  return (
    <Card>
      <Empty
        icon="domains"
        title={t.noDomain}
        text={t.noDomainText}
        action={
          mayWrite && (
            <LinkButton kind="primary" icon="plus" to={ADD_DOMAIN_PATH}>
              {t.addDomain}
            </LinkButton>
          )
        }
      />
    </Card>
  );
}
