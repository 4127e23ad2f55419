/** Several fields together: as a request, or as each object of a list; and which of them the others make necessary. */
import * as z from 'zod';
import type { Field, Fields } from './fields.ts';
import type { Localized } from './locale.ts';

export type SchemasOf<F extends Fields> = { readonly [K in keyof F]: F[K]['schema'] };

type Members<F extends Fields> = z.ZodObject<SchemasOf<F>>;

/** Returns the name of a field that the others require and that is absent or empty; `undefined` if there is none. */
export type Rule<F extends Fields> = (given: z.output<Members<F>>) => (keyof F & string) | undefined;

/**
 * While `holds` says so of the field `when`, the `fields` have no effect: of these, what cannot be read counts as
 * absent.
 */
export interface Ignored<N extends string = string> {
  readonly when: N;
  /** Whether the condition holds for the field's decoded value. */
  readonly holds: (value: unknown) => boolean;
  readonly fields: readonly N[];
}

/**
 * `given` without what counts as absent: `null`, empty texts of optional fields, and unreadable fields that are
 * ignored.
 */
export function dropAbsent(
  fields: Fields,
  given: Readonly<Record<string, unknown>>,
  ignored: readonly Ignored[],
): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, { isEmptyAbsent }] of Object.entries(fields)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value != null && !(isEmptyAbsent && value === '')) kept[name] = value;
  }
  for (const { when, holds, fields: names } of ignored) {
    const condition = fields[when]?.schema.safeParse(kept[when]);
    if (condition?.success !== true || !holds(condition.data)) continue;
    for (const name of names) if (fields[name]?.schema.safeParse(kept[name]).success !== true) delete kept[name];
  }
  return kept;
}

/** The `rule` is asked when each field for itself is right. */
export function membersSchema<F extends Fields>(fields: F, rule?: Rule<NoInfer<F>>): Members<F> {
  const schemas = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema]));
  // fromEntries forgets which name has which schema; both sides are made from the same `fields`.
  const object = z.object(schemas as SchemasOf<F>);
  if (rule === undefined) return object;
  return object.superRefine((given, context) => {
    const name = rule(given);
    if (name !== undefined) context.addIssue({ code: 'custom', path: [name] });
  });
}

interface ObjectListRules<F extends Fields> {
  readonly maxEntries: number;
  readonly expects: Localized;
  readonly each: Localized;
  readonly rule?: Rule<F>;
  readonly ignored?: readonly Ignored<keyof F & string>[];
  /** Checks all objects together; false refuses the whole field. */
  readonly isAllowed?: (objects: readonly z.output<Members<F>>[]) => boolean;
}

/** An array of objects that each have `members`; unknown ones are left out. */
export function objectList<F extends Fields>(
  members: F,
  { maxEntries, expects, each, rule, ignored = [], isAllowed = () => true }: ObjectListRules<F>,
) {
  const object = z.preprocess(
    (value) => (isObject(value) ? dropAbsent(members, value, ignored) : value),
    membersSchema(members, rule),
  );
  return {
    // Counted before each is looked at. `custom` checks nothing; it says what callers may write.
    schema: z
      .array(z.custom<z.input<Members<F>>>())
      .max(maxEntries)
      .transform((objects): unknown[] => objects)
      .pipe(z.array(object).refine(isAllowed)),
    kind: 'objects',
    expects,
    each,
    members,
    json: { type: 'array', maxItems: maxEntries },
  } satisfies Field;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
