/** The log of a domain: its daily files, and its lines as they are written. */
import { useLocation, useSearch } from 'wouter';
import { Card } from '../../components/card.tsx';
import { Empty } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { LOG_VIEWS, logsPath, readLogsQuery } from '../../routes.ts';
import { useText } from '../../text/catalogue.ts';
import { logsText } from '../../text/logs.ts';
import { DomainSelect, useDomains } from '../domains/domain-select.tsx';
import { LogFiles } from './log-files.tsx';
import { LogTail } from './log-tail.tsx';

export function Logs() {
  const t = useText(logsText);
  const [, navigate] = useLocation();
  const query = readLogsQuery(useSearch());
  const { view, domain } = query;
  const id = useDomains().find(({ name }) => name === domain)?.id;
  const choose = (chosen: { readonly name: string } | undefined) =>
    navigate(logsPath({ ...query, domain: chosen?.name ?? '' }), { replace: true });
  return (
    <Page
      title={t.title}
      actions={<DomainSelect label={t.domain} none={t.chooseDomain} value={domain} onChoose={choose} />}
    >
      <Tabs
        label={t.title}
        tabs={LOG_VIEWS.map((one) => ({
          to: logsPath({ ...query, view: one }),
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
      {id !== undefined && view === 'tail' && <LogTail key={id} domainId={id} />}
    </Page>
  );
}
