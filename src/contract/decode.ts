/** A request's body against its contract: the decoded value, or the row of the error table that says what is wrong. */
import type * as z from 'zod';
import type { ErrorParameters } from './errors.ts';
import type { RequestContract } from './operation.ts';

export type Decoded<T> =
  | { readonly kind: 'request'; readonly value: T }
  | { readonly kind: 'error'; readonly code: 'fieldMissing' | 'fieldInvalid'; readonly parameters: FieldParameters };

type FieldParameters = ErrorParameters & Readonly<Record<'field' | 'expected', ErrorParameters[string]>>;

/** `null` counts as absent and unknown fields are ignored. The first problem, in the order of the fields, is reported. */
export function decodeRequest<R extends RequestContract>(
  contract: R,
  body: Readonly<Record<string, unknown>>,
): Decoded<z.output<R['schema']>> {
  const known = Object.keys(contract.fields).filter((name) => Object.hasOwn(body, name) && body[name] !== null);
  const result = contract.schema.safeParse(Object.fromEntries(known.map((name) => [name, body[name]])));
  // The value comes from this very schema; its type is only lost among all contracts.
  if (result.success) return { kind: 'request', value: result.data as z.output<R['schema']> };
  const [name = '', ...inside] = result.error.issues[0]?.path.map(String) ?? [];
  const expected = contract.fields[name]?.expects ?? '';
  const field = [name, ...inside.map((key) => `[${key}]`)].join('');
  return {
    kind: 'error',
    code: known.includes(name) ? 'fieldInvalid' : 'fieldMissing',
    parameters: { field, expected },
  };
}
