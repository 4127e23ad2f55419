/** One change: its author, and what was before and after. */
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { type Fact, Facts } from '../../components/detail.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Diff } from '../../components/diff.tsx';
import type { Load } from '../../components/load.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { auditText } from '../../text/audit.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { Actor } from './audit-columns.tsx';
import { differencesOf } from './differences.ts';

interface EventDialogProps {
  readonly eventId: string;
  readonly load: Load<DataOf<'audit.get'>>;
  /** Whose it is that was changed, where that is told. */
  readonly facts?: readonly Fact[];
  readonly onClose: () => void;
}

export function EventDialog({ eventId, load, facts = [], onClose }: EventDialogProps) {
  const t = useText(auditText);
  const common = useText(commonText);
  return (
    <Dialog
      title={t.eventTitle(eventId)}
      isOpen
      isWide
      onClose={onClose}
      footer={<Button onClick={onClose}>{common.close}</Button>}
    >
      <Loaded load={load} lines={6}>
        {(event) => <Shown event={event} facts={facts} />}
      </Loaded>
    </Dialog>
  );
}

interface ShownProps {
  readonly event: DataOf<'audit.get'>;
  readonly facts: readonly Fact[];
}

function Shown({ event, facts }: ShownProps) {
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
          ...facts,
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
