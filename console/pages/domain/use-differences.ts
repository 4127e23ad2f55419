/** Changes as the service lists them, in titles and words. */
import type { Difference } from '../../components/diff.tsx';
import { describeValue } from '../../forms/setting-value.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { findSetting } from './settings-draft.ts';

interface Change {
  readonly topic: string;
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

export function useDifferences(changes: readonly Change[]): readonly Difference[] {
  const t = useText(commonText);
  const locale = usePreference('locale');
  return changes.map(({ topic, name, before, after }) => {
    const setting = findSetting(topic, name);
    const id = `${topic}.${name}`;
    // A setting that a newer service has is shown as it came.
    if (setting === undefined) return { id, title: id, before: JSON.stringify(before), after: JSON.stringify(after) };
    const { field, text } = setting;
    const describe = (value: unknown) => describeValue(field, text, value, locale, t);
    return { id, title: text.title[locale], before: describe(before), after: describe(after) };
  });
}
