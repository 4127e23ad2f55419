/** For a field that may be left out where something is stored, and nothing is. */

import type { Field } from '#contract/fields.ts';
import { ServiceError } from '#contract/service-error.ts';

export function refuseMissing<N extends string>(fields: Readonly<Record<N, Field>>, field: N): never {
  throw new ServiceError('fieldMissing', { field, expected: fields[field].expects });
}
