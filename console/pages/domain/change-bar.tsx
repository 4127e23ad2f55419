/** What becomes of a draft: discarded, or reviewed, compared with what others did meanwhile, and applied. */
import { useEffect } from 'react';
import { Button } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import { StickyBar } from '../../components/sticky-bar.tsx';
import { useKey } from '../../lib/use-key.ts';
import { isChangedMeanwhile, problemOf } from '../../queries.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainText } from '../../text/domain.ts';
import { ConflictDialog } from './conflict-dialog.tsx';
import type { DomainData } from './domain.tsx';
import { ReviewDialog } from './review-dialog.tsx';
import { conflictsOf, type Draft, draftProblems } from './settings-draft.ts';
import { type Stored, useReview } from './use-review.ts';

interface ChangeBarProps {
  readonly domain: DomainData;
  readonly stored: Stored;
  readonly draft: Draft;
  readonly setDraft: (draft: Draft) => void;
}

export function ChangeBar({ domain, stored, draft, setDraft }: ChangeBarProps) {
  const t = useText(domainText);
  const locale = usePreference('locale');
  const { step, dryRun, begin, again, close, resolve } = useReview({ ...domain, stored, draft, setDraft });
  const wrong = draftProblems(draft, locale).size;
  const mayBegin = draft.size > 0 && wrong === 0 && step === 'none';
  useKey({ key: 'Enter', isWithControl: true }, () => mayBegin && begin());
  useUnloadGuard(draft.size > 0);
  if (draft.size === 0) return null;
  const discard = () => setDraft(new Map());
  return (
    <StickyBar label={t.changes(draft.size)}>
      {dryRun.error && !isChangedMeanwhile(dryRun.error) && <Notice tone="bad">{problemOf(dryRun.error).text}</Notice>}
      <div className="row">
        <span className="grow" role="status">
          {wrong > 0 ? t.wrong(wrong) : t.changes(draft.size)}
        </span>
        <Button kind="plain" onClick={discard}>
          {t.discard}
        </Button>
        <Button kind="primary" disabled={wrong > 0} isBusy={dryRun.isPending} onClick={begin}>
          {t.review}
        </Button>
      </div>
      {step === 'conflict' && (
        <ConflictDialog conflicts={conflictsOf(draft, stored.settings)} onClose={close} onProceed={resolve} />
      )}
      {step === 'review' && dryRun.data && (
        <ReviewDialog
          {...{ domain, draft, stored }}
          found={dryRun.data}
          onClose={close}
          onConflict={again}
          onApplied={() => {
            close();
            discard();
          }}
        />
      )}
    </StickyBar>
  );
}

/** The browser asks before it drops changes that were not applied. */
function useUnloadGuard(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isNeeded]);
}
