/** What phones have answered, newest first. */
import { Link, useLocation, useSearch } from 'wouter';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { SearchInput } from '../../components/input.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { writeCsv } from '../../lib/csv.ts';
import { downloadText } from '../../lib/download.ts';
import { useTyped } from '../../lib/use-typed.ts';
import { usePages, useRead } from '../../queries.ts';
import { messagesPath, type RepliesQuery, readRepliesQuery, repliesPath } from '../../routes/messaging.ts';
import { PATHS } from '../../routes.ts';
import { useText } from '../../text/catalogue.ts';
import { repliesText } from '../../text/replies.ts';
import { isWholeNumber, plainNumber } from '../messages/message-search.ts';
import { SERVICES, ServiceSelect } from '../messages/service-select.tsx';
import { RepliesTabs } from './replies-tabs.tsx';

type Reply = DataOf<'sms.listReplies'>['list'][number];

export function Replies() {
  const t = useText(repliesText);
  const query = readRepliesQuery(useSearch());
  const pages = usePages('sms.listReplies', requestOf(query), 'before');
  const columns = useColumns();
  const rows = pages.load.kind === 'ready' ? pages.load.data : [];
  const isFiltered = repliesPath(query) !== PATHS.replies;
  return (
    <Page
      title={t.title}
      actions={
        rows.length > 0 && (
          <Button icon="download" onClick={() => downloadText('replies.csv', 'text/csv', csvOf(rows))}>
            {t.csv}
          </Button>
        )
      }
    >
      <RepliesTabs open="replies" />
      <Filter query={query} />
      <Card isFlush>
        <Loaded
          load={pages.load}
          lines={10}
          isEmpty={(list) => list.length === 0 && !pages.hasMore}
          empty={
            isFiltered ? (
              <Empty icon="search" title={t.noMatch} action={<Link href={PATHS.replies}>{t.clear}</Link>} />
            ) : (
              <Empty icon="replies" title={t.emptyTitle} text={t.emptyText} />
            )
          }
        >
          {(list) => <Table label={t.title} columns={columns} rows={list} keyOf={({ reply_id }) => reply_id} />}
        </Loaded>
        {pages.hasMore && <MoreButton isBusy={pages.isBusy} onMore={pages.onMore} />}
      </Card>
    </Page>
  );
}

function requestOf({ number, app }: RepliesQuery): CallOf<'sms.listReplies'> {
  return {
    ...(isWholeNumber(number) && { mobile: plainNumber(number) }),
    ...(app !== '' && { app_key: app }),
    page_size: 50,
  };
}

function Filter({ query }: { readonly query: RepliesQuery }) {
  const t = useText(repliesText);
  const [, navigate] = useLocation();
  const change = (changed: Partial<RepliesQuery>) => navigate(repliesPath({ ...query, ...changed }), { replace: true });
  const typed = useTyped(query.number, (number) => change({ number }));
  return (
    <search className="row">
      <SearchInput label={t.number} inputMode="tel" {...typed} />
      <ServiceSelect value={query.app} onChange={(app) => change({ app })} />
    </search>
  );
}

function useColumns(): readonly Column<Reply>[] {
  const t = useText(repliesText);
  const load = useRead('sms.listApps', SERVICES);
  const names = new Map(load.kind === 'ready' ? load.data.list.map(({ app_key, name }) => [app_key, name]) : []);
  return [
    {
      id: 'number',
      title: t.number,
      phone: 'first',
      show: ({ mobile }) => (
        <Link href={messagesPath({ number: mobile })} className="mono">
          {mobile}
        </Link>
      ),
    },
    { id: 'text', title: t.text, show: (reply) => <ReplyText reply={reply} /> },
    {
      id: 'service',
      title: t.service,
      phone: 'hidden',
      show: ({ app_key }) => names.get(app_key) ?? (app_key || <span className="dim">{t.noService}</span>),
    },
    {
      id: 'received',
      title: t.received,
      phone: 'second',
      show: ({ created_at }) => <Time at={created_at} isRelative />,
    },
  ];
}

function ReplyText({ reply: { text, coding, part, parts } }: { readonly reply: Reply }) {
  const t = useText(repliesText);
  return (
    <>
      <span className={coding === undefined ? 'wrap' : 'mono wrap'}>{text}</span>{' '}
      {coding !== undefined && <span className="dim">{t.octets(coding)}</span>}{' '}
      {parts > 1 && <span className="dim">{t.piece(part, parts)}</span>}
    </>
  );
}

function csvOf(rows: readonly Reply[]): string {
  const names = ['create_time', 'mobile', 'text', 'app_key', 'reference', 'part', 'parts', 'reply_id'] as const;
  return writeCsv(
    names,
    rows.map((row) => names.map((name) => row[name])),
  );
}
