/** What the service says would change, setting by setting, before it is applied. */
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Diff } from '../../components/diff.tsx';
import { Notice } from '../../components/notice.tsx';
import { useKey } from '../../lib/use-key.ts';
import { isChangedMeanwhile, problemOf, useChange } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { domainText } from '../../text/domain.ts';
import type { DomainData } from './domain.tsx';
import { type Draft, toSet } from './settings-draft.ts';
import { useAnnounce } from './use-announce.ts';
import { useDifferences } from './use-differences.ts';
import type { Stored } from './use-review.ts';

interface ReviewDialogProps {
  readonly domain: DomainData;
  readonly stored: Stored;
  readonly draft: Draft;
  /** What the dry run has found. */
  readonly found: DataOf<'domain.change'>;
  readonly onClose: () => void;
  /** Somebody else has changed the settings since. */
  readonly onConflict: () => void;
  readonly onApplied: () => void;
}

export function ReviewDialog({ domain, stored, draft, found, onClose, onConflict, onApplied }: ReviewDialogProps) {
  const t = useText(domainText);
  const common = useText(commonText);
  const change = useChange('domain.change');
  const announce = useAnnounce(domain);
  const differences = useDifferences(found.changes);
  const apply = async () => {
    try {
      const { domain_id } = domain;
      const { revision, changes } = await change.mutateAsync({
        domain_id,
        set: toSet(draft),
        if_revision: stored.revision,
      });
      announce({ revision, before: stored.revision, names: changes.map(({ topic, name }) => `${topic}.${name}`) });
      onApplied();
    } catch (error) {
      if (isChangedMeanwhile(error)) onConflict(); // others are shown below
    }
  };
  useKey({ key: 'Enter', isWithControl: true }, () => void apply());
  return (
    <Dialog
      title={t.reviewTitle}
      isOpen
      isWide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" isBusy={change.isPending} onClick={() => void apply()}>
            {t.apply}
          </Button>
        </>
      }
    >
      <Diff differences={differences} />
      {found.warnings.map(({ code, text }) => (
        <Notice key={code} tone="warn">
          {text}
        </Notice>
      ))}
      {change.error && <Notice tone="bad">{problemOf(change.error).text}</Notice>}
      <p className="help">{t.appliesAt}</p>
    </Dialog>
  );
}
