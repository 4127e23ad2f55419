/** The log of a domain: its daily files, a search of the last day, and its lines as they are written. */
import { useLocation, useSearch } from 'wouter';
import { Card } from '../../components/card.tsx';
import { Empty } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { LOG_VIEWS, type LogsQuery, logsPath, readLogsQuery } from '../../routes/delivery.ts';
import { useText } from '../../text/catalogue.ts';
import { logsText } from '../../text/logs.ts';
import { type DomainChoice, DomainSelect, useDomainNamed } from '../domains/domain-select.tsx';
import { LogFiles } from './log-files.tsx';
import { LogSearch } from './log-search.tsx';
import { LogTail } from './log-tail.tsx';

export function Logs() {
  const t = useText(logsText);
  const [, navigate] = useLocation();
  const query = readLogsQuery(useSearch());
  const { view, domain } = query;
  const chosen = useDomainNamed(domain);
  const choose = (other: { readonly name: string } | undefined) =>
    navigate(logsPath({ view, domain: other?.name ?? '' }), { replace: true });
  return (
    <Page
      title={t.title}
      actions={<DomainSelect label={t.domain} none={t.chooseDomain} value={domain} onChoose={choose} />}
    >
      <Tabs
        label={t.title}
        tabs={LOG_VIEWS.map((one) => ({
          to: logsPath({ view: one, domain }),
          title: t.views[one],
          isOpen: one === view,
        }))}
      />
      {domain === '' && (
        <Card>
          <Empty icon="logs" title={t.chooseTitle} text={t.chooseText} />
        </Card>
      )}
      {domain !== '' && view === 'files' && <LogFiles domain={domain} />}
      {chosen && view !== 'files' && <Lines key={chosen.id} query={query} domain={chosen} />}
    </Page>
  );
}

function Lines({ query, domain }: { readonly query: LogsQuery; readonly domain: DomainChoice }) {
  const [, navigate] = useLocation();
  if (query.view === 'tail') return <LogTail domain={domain} />;
  return (
    <LogSearch domain={domain} search={query.search} onSearch={(search) => navigate(logsPath({ ...query, search }))} />
  );
}
