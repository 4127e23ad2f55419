/** Refuses a call that omits a field which is optional only while a value is stored. */
import type { Field } from '#contract/fields.ts';
import { ServiceError } from '#contract/service-error.ts';

export function refuseMissing<N extends string>(fields: Readonly<Record<N, Field>>, field: N): never {
  throw new ServiceError('fieldMissing', { field, expected: fields[field].expects });
}
