/** The account's balance for messages, and the ledger that it is the sum of. */
import { useLocation, useSearch } from 'wouter';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { formatAmount } from '../../lib/format-amount.ts';
import { useRead } from '../../queries.ts';
import { balancePath, readBalanceQuery } from '../../routes/messaging.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { ledgerText } from '../../text/ledger.ts';
import { messagesText } from '../../text/messages.ts';
import { LEDGER_PAGE_SIZE, Ledger } from './ledger.tsx';
import { MessagesTabs } from './messages-tabs.tsx';

/** Hints of messages do not name the ledger: it changes with each of them. */
const EVERY_MS = 30_000;

export function Balance() {
  const t = useText(ledgerText);
  const { title } = useText(messagesText);
  const locale = usePreference('locale');
  const [, navigate] = useLocation();
  const { before } = readBalanceQuery(useSearch());
  const request = { before, page_size: LEDGER_PAGE_SIZE };
  const load = useRead('sms.listLedger', request, { everyMs: EVERY_MS, keepsPrevious: true });
  return (
    <Page title={title}>
      <MessagesTabs open="balance" />
      <p className="help">{t.help}</p>
      <Card
        title={t.title}
        note={load.kind === 'ready' && t.balanceIs(formatAmount(load.data.balance, load.data, locale))}
        isFlush
      >
        <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<Empty icon="audit" title={t.none} />}>
          {({ list, ...money }) => (
            <Ledger
              entries={list}
              {...{ money, before }}
              onBefore={(next) => navigate(balancePath({ before: next }))}
              hasLinks
            />
          )}
        </Loaded>
      </Card>
    </Page>
  );
}
