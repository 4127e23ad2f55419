/** The account's messages, newest first: filtered by the service, which looks at a bounded number of them at a time. */
import { Link, useLocation, useSearch } from 'wouter';
import { Button, LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { downloadText } from '../../lib/download.ts';
import { usePages } from '../../queries.ts';
import { messagePath, messagesPath, readMessagesQuery } from '../../routes/messaging.ts';
import { PATHS, SEND_PATH } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { messagesText } from '../../text/messages.ts';
import { sendMessageText } from '../../text/send-message.ts';
import { csvOf, type FoundMessage, isWholeNumber, requestOf } from './message-search.ts';
import { MessageState } from './message-state.tsx';
import { MessagesFilter } from './messages-filter.tsx';
import { MessagesTabs } from './messages-tabs.tsx';
import { useMoney } from './use-money.ts';

export function Messages() {
  const t = useText(messagesText);
  const query = readMessagesQuery(useSearch());
  const [, navigate] = useLocation();
  const pages = usePages('sms.find', requestOf(query, Date.now()), 'cursor');
  const columns = useColumns();
  const rows = pages.load.kind === 'ready' ? pages.load.data : [];
  const isFiltered = messagesPath(query) !== PATHS.messages;
  return (
    <Page
      title={t.title}
      actions={
        <>
          {rows.length > 0 && (
            <Button icon="download" onClick={() => downloadText('messages.csv', 'text/csv', csvOf(rows))}>
              {t.csv}
            </Button>
          )}
          <SendButton kind="primary" />
        </>
      }
    >
      <MessagesTabs open="list" />
      <MessagesFilter query={query} onChange={(next) => navigate(messagesPath(next), { replace: true })} />
      {query.number !== '' && !isWholeNumber(query.number) && <p className="help">{t.wholeNumber}</p>}
      <Card isFlush>
        <Loaded
          load={pages.load}
          lines={10}
          isEmpty={(list) => list.length === 0 && !pages.hasMore}
          empty={isFiltered ? <NoMatch /> : <NoMessages />}
        >
          {(list) => (
            <Table
              label={t.title}
              columns={columns}
              rows={list}
              keyOf={({ sendid, mobile }) => `${sendid} ${mobile}`}
              nameOf={({ mobile }) => mobile}
              onOpen={({ sendid, mobile }) => navigate(messagePath(sendid, mobile))}
            />
          )}
        </Loaded>
        {pages.hasMore && (
          <>
            {isFiltered && pages.last !== undefined && (
              <p className="help pad">
                {t.searchedUntil} <Time at={pages.last.searched_until} />
              </p>
            )}
            <MoreButton isBusy={pages.isBusy} onMore={pages.onMore} />
          </>
        )}
      </Card>
    </Page>
  );
}

function useColumns(): readonly Column<FoundMessage>[] {
  const t = useText(messagesText);
  const money = useMoney();
  return [
    {
      id: 'number',
      title: t.number,
      phone: 'first',
      show: ({ sendid, mobile }) => (
        <Link href={messagePath(sendid, mobile)} className="mono">
          {mobile}
        </Link>
      ),
    },
    { id: 'state', title: t.state, phone: 'second', show: ({ status }) => <MessageState state={status} /> },
    { id: 'kind', title: t.kind, phone: 'hidden', show: ({ kind }) => t.kinds[kind] },
    { id: 'parts', title: t.parts, isNumber: true, phone: 'hidden', show: ({ parts }) => parts },
    { id: 'price', title: t.price, isNumber: true, show: ({ price }) => money(price) },
    { id: 'accepted', title: t.accepted, show: ({ created_at }) => <Time at={created_at} isRelative /> },
    { id: 'sendid', title: t.sendid, phone: 'hidden', show: ({ sendid }) => <span className="mono">{sendid}</span> },
  ];
}

function NoMatch() {
  const t = useText(messagesText);
  return <Empty icon="search" title={t.noMatch} action={<Link href={PATHS.messages}>{t.clear}</Link>} />;
}

function NoMessages() {
  const t = useText(messagesText);
  return <Empty icon="messages" title={t.emptyTitle} text={t.emptyText} action={<SendButton />} />;
}

function SendButton({ kind }: { readonly kind?: 'primary' }) {
  const t = useText(sendMessageText);
  if (!useSession().access.includes('write')) return null;
  return (
    <LinkButton {...(kind && { kind })} icon="plus" to={SEND_PATH}>
      {t.title}
    </LinkButton>
  );
}
