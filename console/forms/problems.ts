/** What the contract says against values before they are sent, beside the field that it is about. */
import { describeProblems } from '#contract/decode.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { dropAbsent } from '#contract/schema/members.ts';
import type { RequestContract } from '#contract/schema/operation.ts';
import { problemsText } from '../text/problems.ts';

/** The first problem of each field. */
export function problemsOf(
  contract: RequestContract,
  values: Readonly<Record<string, unknown>>,
  locale: Locale,
): Readonly<Record<string, string>> {
  const given = dropAbsent(contract.fields, values, contract.ignored);
  const result = contract.schema.safeParse(given);
  if (result.success) return {};
  const problems = describeProblems(contract, given, result.error).map(({ code, field, expected, found }) => {
    const t = problemsText[locale];
    const text = code === 'fieldMissing' ? t.missing(expected[locale]) : t.invalid(expected[locale], found[locale]);
    return [field.replace(/\[.*/, ''), text] as const;
  });
  return Object.fromEntries(problems.reverse());
}
