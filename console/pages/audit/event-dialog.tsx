/** One change: its author, and what was before and after. */
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/detail.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Diff } from '../../components/diff.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { useRead } from '../../queries.ts';
import { auditText } from '../../text/audit.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { Actor } from './audit.tsx';
import { differencesOf } from './differences.ts';

interface EventDialogProps {
  readonly eventId: string;
  readonly onClose: () => void;
}

export function EventDialog({ eventId, onClose }: EventDialogProps) {
  const t = useText(auditText);
  const common = useText(commonText);
  const load = useRead('audit.get', { event_id: eventId });
  return (
    <Dialog
      title={t.eventTitle(eventId)}
      isOpen
      isWide
      onClose={onClose}
      footer={<Button onClick={onClose}>{common.close}</Button>}
    >
      <Loaded load={load} lines={6}>
        {(event) => <Shown event={event} />}
      </Loaded>
    </Dialog>
  );
}

function Shown({ event }: { readonly event: DataOf<'audit.get'> }) {
  const t = useText(auditText);
  const { at, address, operation, target_name, target_id, revision, request_id, before, after } = event;
  const mono = (text: string) => (text === '' ? undefined : <span className="mono wrap">{text}</span>);
  const words = { secret: t.secret };
  const differences = differencesOf(before, after, words);
  return (
    <>
      <Facts
        facts={[
          { title: t.what, value: mono(operation) },
          { title: t.target, value: mono([target_name, target_id].filter(Boolean).join(' · ')) },
          { title: t.who, value: <Actor {...event} /> },
          { title: t.from, value: mono(address) },
          { title: t.when, value: <Time at={at} /> },
          { title: t.revision, value: mono(revision) },
          { title: t.request, value: mono(request_id) },
        ]}
      />
      <h3>{t.differences}</h3>
      {differences.length === 0 ? (
        <p className="help">{t.noDifferences}</p>
      ) : (
        <Diff differences={differences.map((one) => ({ ...one, title: one.id }))} />
      )}
    </>
  );
}
