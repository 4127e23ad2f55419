/** Replies and opt-outs are two views of what people answer. */
import { Tabs } from '../../components/tabs.tsx';
import { OPT_OUTS_PATH, PATHS } from '../../routes.ts';
import { useText } from '../../text/catalogue.ts';
import { repliesText } from '../../text/replies.ts';

export function RepliesTabs({ open }: { readonly open: 'replies' | 'optOuts' }) {
  const t = useText(repliesText);
  return (
    <Tabs
      label={t.title}
      tabs={[
        { to: PATHS.replies, title: t.replies, isOpen: open === 'replies' },
        { to: OPT_OUTS_PATH, title: t.optOuts, isOpen: open === 'optOuts' },
      ]}
    />
  );
}
