/** Refuses a call that omits a field which is optional only while a value is stored. */

import { ServiceError } from '#contract/errors/service-error.ts';
import type { Field } from '#contract/schema/fields.ts';

export function refuseMissing<N extends string>(fields: Readonly<Record<N, Field>>, field: N): never {
  throw new ServiceError('fieldMissing', { field, expected: fields[field].expects });
}
