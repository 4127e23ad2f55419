/** The lines of a domain's log as edges write them. */
import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Empty } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { formatNumber } from '../../lib/format.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { logsText } from '../../text/logs.ts';
import type { DomainChoice } from '../domains/domain-select.tsx';
import styles from './filter.module.css';
import { FilterFields } from './filter-fields.tsx';
import { NO_FILTER } from './line.ts';
import { CsvButton, LineTable } from './line-table.tsx';
import { type Following, useFollow } from './use-follow.ts';

export function LogTail({ domain }: { readonly domain: DomainChoice }) {
  const t = useText(logsText);
  const [filter, setFilter] = useState(NO_FILTER);
  const following = useFollow();
  const { followed, isRunning, problem, start, stop, clear } = following;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isRunning) stop();
    else start(domain.id, filter);
  };
  return (
    <>
      <form className={styles['filter']} onSubmit={submit}>
        <FilterFields filter={filter} onChange={setFilter} isDisabled={isRunning} />
        <div className="row">
          <Button kind={isRunning ? 'normal' : 'primary'} icon={isRunning ? 'pause' : 'play'} type="submit">
            {isRunning ? t.pause : t.start}
          </Button>
          {followed.lines.length > 0 && <Button onClick={clear}>{t.clear}</Button>}
          {!isRunning && <CsvButton lines={followed.lines} domain={domain.name} />}
        </div>
      </form>
      {problem && <Notice tone="bad">{problem.text}</Notice>}
      <Lines following={following} domainId={domain.id} />
    </>
  );
}

function Lines({ following, domainId }: { readonly following: Following; readonly domainId: string }) {
  const t = useText(logsText);
  const locale = usePreference('locale');
  const { lines, dropped, end } = following.followed;
  const isIdle = lines.length === 0;
  return (
    <>
      {dropped > 0 && <Notice tone="info">{t.dropped(formatNumber(dropped, locale))}</Notice>}
      {end !== undefined && <Notice tone="info">{t.ends[end]}</Notice>}
      <Card isFlush>
        {isIdle && following.isRunning && <Empty icon="logs" title={t.waiting} />}
        {isIdle && !following.isRunning && <Empty icon="logs" title={t.notStarted} text={t.notStartedHelp} />}
        {!isIdle && <LineTable lines={lines} domainId={domainId} />}
      </Card>
    </>
  );
}
