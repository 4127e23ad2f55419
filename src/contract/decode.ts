/** A request's body against its contract: the decoded value, or the row of the error table that says what is wrong. */
import type * as z from 'zod';
import type { ErrorParameters } from './errors/service-error.ts';
import { type Field, listEntries, UNKNOWN_NAME } from './schema/fields.ts';
import { describeFound } from './schema/found.ts';
import type { Localized } from './schema/locale.ts';
import { dropAbsent } from './schema/members.ts';
import type { RequestContract } from './schema/operation.ts';

export type Decoded<T> =
  | { readonly kind: 'request'; readonly value: T }
  | { readonly kind: 'error'; readonly code: FieldProblem['code']; readonly parameters: FieldParameters };

type FieldParameters = ErrorParameters & Pick<FieldProblem, 'field' | 'expected' | 'found'>;

export interface FieldProblem {
  readonly code: 'fieldMissing' | 'fieldInvalid';
  /** Path of the field, members included: `policy[0][content]`. */
  readonly field: string;
  readonly expected: Localized;
  readonly found: Localized;
}

/** Unknown fields are ignored. The first problem, in the order of the fields, is reported. */
export function decodeRequest<R extends RequestContract>(
  contract: R,
  body: Readonly<Record<string, unknown>>,
): Decoded<z.output<R['schema']>> {
  const given = dropAbsent(contract.fields, body, contract.ignored);
  const result = contract.schema.safeParse(given);
  // The value comes from this very schema; its type is only lost among all contracts.
  if (result.success) return { kind: 'request', value: result.data as z.output<R['schema']> };
  const [first] = describeProblems(contract, given, result.error);
  if (first === undefined) throw new Error('a request was refused without an issue');
  const { code, ...parameters } = first;
  return { kind: 'error', code, parameters };
}

/** Every problem, as the schema found them in `given`. */
export function describeProblems({ fields }: RequestContract, given: unknown, error: z.ZodError): FieldProblem[] {
  return error.issues.map(({ path: [name = '', ...inside], ...issue }) => {
    const field = fields[String(name)];
    const member = memberAt(field, inside);
    const isWhole = inside.length === 0 || member !== undefined;
    const isName = issue.code === 'custom' && issue.params === UNKNOWN_NAME;
    const value = isName ? String(inside.at(-1)) : inside.reduce(valueAt, asList(field, valueAt(given, name)));
    return {
      code: isWhole && value == null ? 'fieldMissing' : 'fieldInvalid',
      field: [String(name), ...inside.map((key) => `[${String(key)}]`)].join(''),
      expected: (isWhole ? (member ?? field)?.expects : (field?.each ?? field?.expects)) ?? NOTHING,
      found: describeFound(value, field?.isSecret),
    };
  });
}

const NOTHING: Localized = { 'zh-CN': '', en: '' };

/** `path` begins inside of `field`: `[0, 'content']`. */
function memberAt(field: Field | undefined, [, name]: readonly PropertyKey[]): Field | undefined {
  return typeof name === 'string' ? field?.members?.[name] : undefined;
}

/** A list that was sent as one text, as its entries. */
function asList(field: Field | undefined, value: unknown): unknown {
  return (field?.separator && listEntries(value, field.separator)) ?? value;
}

function valueAt(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
