/** What a draft comes to, as the service says it when the typing pauses: parts, price, and what it would refuse. */
import type { DataOf } from '#contract/operations.ts';
import type { Problem } from '../../components/load.ts';
import { useDelayed } from '../../lib/use-delayed.ts';
import { problemOf, useReadQuery } from '../../queries.ts';
import { areWhole, type Draft, numbersOf, splitRequest } from './draft.ts';
import { type FieldName, fieldOf } from './use-sending.ts';

interface Preview {
  /** The answer for this draft, or for the one before the last keys; `undefined`: there is none. */
  readonly split: DataOf<'sms.split'> | undefined;
  /** Whether the answer is for this draft with its numbers, so that it may be sent. */
  readonly isWhole: boolean;
  readonly errors: { readonly [N in FieldName]?: string };
  readonly problem: Problem | undefined;
}

/** `areMeant`: the numbers were left, so they are finished. */
export function usePreview(draft: Draft, areMeant: boolean): Preview {
  const asked = useDelayed(draft);
  const withNumbers = areMeant || areWhole(asked);
  const isEnabled = asked.text !== '' && asked.app !== '';
  const { data, error, isPlaceholderData } = useReadQuery('sms.split', splitRequest(asked, withNumbers), {
    isEnabled,
    keepsPrevious: true,
  });
  const refused = isEnabled ? error : null;
  const field = fieldOf(refused);
  return {
    split: draft.text === '' || refused !== null ? undefined : data,
    isWhole: asked === draft && withNumbers && numbersOf(draft).length > 0 && !isPlaceholderData && refused === null,
    errors: field === undefined || refused === null ? {} : { [field]: problemOf(refused).text },
    problem: field === undefined && refused !== null ? problemOf(refused) : undefined,
  };
}
