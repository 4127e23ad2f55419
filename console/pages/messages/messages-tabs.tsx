/** The list of messages and their counts. */
import { Tabs } from '../../components/tabs.tsx';
import { MESSAGE_COUNTS_PATH } from '../../routes/messaging.ts';
import { PATHS } from '../../routes.ts';
import { useText } from '../../text/catalogue.ts';
import { messageCountsText } from '../../text/message-counts.ts';

export function MessagesTabs({ open }: { readonly open: 'list' | 'counts' }) {
  const t = useText(messageCountsText);
  return (
    <Tabs
      label={t.views}
      tabs={[
        { to: PATHS.messages, title: t.list, isOpen: open === 'list' },
        { to: MESSAGE_COUNTS_PATH, title: t.counts, isOpen: open === 'counts' },
      ]}
    />
  );
}
