/** The list of messages, their counts, and what they have cost, for those who may see money. */
import { Tabs } from '../../components/tabs.tsx';
import { BALANCE_PATH, MESSAGE_COUNTS_PATH, PATHS } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { messageCountsText } from '../../text/message-counts.ts';

export function MessagesTabs({ open }: { readonly open: 'list' | 'counts' | 'balance' }) {
  const t = useText(messageCountsText);
  const seesMoney = useSession().access.includes('money');
  return (
    <Tabs
      label={t.views}
      tabs={[
        { to: PATHS.messages, title: t.list, isOpen: open === 'list' },
        { to: MESSAGE_COUNTS_PATH, title: t.counts, isOpen: open === 'counts' },
        ...(seesMoney ? [{ to: BALANCE_PATH, title: t.balance, isOpen: open === 'balance' }] : []),
      ]}
    />
  );
}
