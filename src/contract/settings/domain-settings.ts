/** Operations that read settings of one domain, or change them. */
import * as z from 'zod';
import { type Fields, identifier } from '../schema/fields.ts';
import type { Localized } from '../schema/locale.ts';
import type { Ignored, Rule, SchemasOf } from '../schema/members.ts';
import { request } from '../schema/operation.ts';
import { IF_REVISION, REVISION_DATA, SAMPLE_REVISION } from '../schema/revision-fields.ts';

/** The answer of an operation that returns nothing else. */
export const SUCCEEDED = z.boolean().describe('true: done');

const DOMAIN = { domain_id: identifier };
const SAMPLE_DOMAIN = { domain_id: '1001' } as const;

/** An operation that shows settings with their revision. */
export function readsSettings<const S extends z.core.$ZodLooseShape>(
  summary: Localized,
  data: S,
  sample: z.input<z.ZodObject<S>>,
) {
  return {
    summary,
    request: request(DOMAIN),
    data: z.object({ ...REVISION_DATA, ...data }),
    sample: { request: SAMPLE_DOMAIN, data: { revision: SAMPLE_REVISION, ...sample } },
  };
}

/** An operation that changes settings, perhaps only if they still have a revision. */
export function changesSettings<F extends Fields>(
  summary: Localized,
  fields: F,
  sample: z.input<z.ZodObject<SchemasOf<F>>>,
  rule?: Rule<NoInfer<F>>,
  ignored: readonly Ignored<keyof NoInfer<F> & string>[] = [],
) {
  const all = { ...DOMAIN, ...fields, ...IF_REVISION };
  return {
    summary,
    // `as`: a rule for some of the fields is one for all of them.
    request: request(all, rule as unknown as Rule<typeof all>, ignored),
    data: SUCCEEDED,
    sample: { request: { ...SAMPLE_DOMAIN, ...sample }, data: true },
  };
}
