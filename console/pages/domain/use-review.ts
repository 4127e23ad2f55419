/** The way of a draft to its review: conflicts first, then what the service says would change. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { isChangedMeanwhile, useAsk, useFresh } from '../../queries.ts';
import { conflictsOf, type Draft, resolved, toSet } from './settings-draft.ts';

export type Stored = DataOf<'domain.settings'>;

interface Reviewed {
  readonly domain_id: string;
  readonly stored: Stored;
  readonly draft: Draft;
  readonly setDraft: (draft: Draft) => void;
}

export function useReview({ domain_id, stored, draft, setDraft }: Reviewed) {
  const [step, setStep] = useState<'none' | 'conflict' | 'review'>('none');
  const dryRun = useAsk('domain.change');
  const readAgain = useFresh('domain.settings');
  const review = async (reviewed: Draft, against: Stored): Promise<void> => {
    if (conflictsOf(reviewed, against.settings).length > 0) return setStep('conflict');
    try {
      const { revision } = against;
      await dryRun.mutateAsync({ domain_id, set: toSet(reviewed), if_revision: revision, dry_run: 1 });
      setStep('review');
    } catch (error) {
      if (isChangedMeanwhile(error)) await again(reviewed);
    }
  };
  const again = async (reviewed: Draft) => {
    // Failures are shown by the dry run, or by what reads the settings.
    const fresh = await readAgain({ domain_id }).catch(() => undefined);
    if (fresh !== undefined) await review(reviewed, fresh);
  };
  return {
    step,
    dryRun,
    begin: () => void review(draft, stored),
    again: () => void again(draft),
    close: () => setStep('none'),
    /** `mine`: ids of settings in conflict that are to be as the person wants them. */
    resolve: (mine: ReadonlySet<string>) => {
      const next = resolved(draft, stored.settings, mine);
      setDraft(next);
      setStep('none');
      if (next.size > 0) void review(next, stored);
    },
  };
}
