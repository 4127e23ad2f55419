/** What a search has found so far, how much was read for it, and what was left out. */
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { formatBytes, formatNumber } from '../../lib/format.ts';
import { usePages } from '../../queries.ts';
import type { LogSearchQuery } from '../../routes/delivery.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { logsText } from '../../text/logs.ts';
import type { DomainChoice } from '../domains/domain-select.tsx';
import { fieldsOf } from './line.ts';
import { CsvButton, LineTable } from './line-table.tsx';

interface SearchResultsProps {
  readonly domain: DomainChoice;
  readonly search: LogSearchQuery;
}

/** Lines of one call. */
const LIMIT = 100;

export function SearchResults({ domain, search: { filter, from, to } }: SearchResultsProps) {
  const t = useText(logsText);
  const locale = usePreference('locale');
  const request = {
    domain_id: domain.id,
    ...(filter !== '' && { filter }),
    starttime: from,
    endtime: to,
    limit: LIMIT,
  };
  const { load, answers, hasMore, isBusy, onMore } = usePages('log.search', request, 'after');
  const lines = load.kind === 'ready' ? load.data.map((line, id) => ({ id, fields: fieldsOf(line) })) : [];
  const readBytes = answers.reduce((sum, { searched_bytes }) => sum + searched_bytes, 0);
  const found = formatNumber(lines.length, locale);
  return (
    <>
      {answers.some(({ cut }) => cut === '1') && <Notice tone="info">{t.cut}</Notice>}
      <Card
        title={t.found(found)}
        note={load.kind === 'ready' && t.searched(formatBytes(readBytes, locale), hasMore)}
        actions={<CsvButton lines={lines} domain={domain.name} />}
        isFlush
      >
        <Loaded
          load={load}
          lines={8}
          isEmpty={(list) => list.length === 0}
          empty={<Empty icon="search" title={t.noneFound} text={hasMore ? t.noneFoundYet : t.noneFoundHelp} />}
        >
          {() => <LineTable lines={lines} domainId={domain.id} hasDates />}
        </Loaded>
        {hasMore && (
          <div className="row pad">
            <Button isBusy={isBusy} onClick={onMore}>
              {t.searchOn}
            </Button>
          </div>
        )}
      </Card>
    </>
  );
}
