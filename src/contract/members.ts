/** Several fields together: as a request, or as each object of a list; and which of them the others make necessary. */
import * as z from 'zod';
import type { Field, Fields } from './fields.ts';
import type { Localized } from './locale.ts';

export type SchemasOf<F extends Fields> = { readonly [K in keyof F]: F[K]['schema'] };

type Members<F extends Fields> = z.ZodObject<SchemasOf<F>>;

/** The name of a field that the others make necessary, and that is absent or empty; `undefined` when there is none. */
export type Rule<F extends Fields> = (given: z.output<Members<F>>) => (keyof F & string) | undefined;

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
  readonly rule: Rule<F>;
  /** Of all objects together; false refuses the whole field. */
  readonly isAllowed: (objects: readonly z.output<Members<F>>[]) => boolean;
}

/** An array of objects that each have `members`. A member that is `null` counts as absent; unknown ones are ignored. */
export function objectList<F extends Fields>(
  members: F,
  { maxEntries, expects, each, rule, isAllowed }: ObjectListRules<F>,
) {
  const object = z.preprocess(dropNulls, membersSchema(members, rule));
  return {
    // Counted before each is looked at. `custom` checks nothing; it says what callers may write.
    schema: z
      .array(z.custom<z.input<Members<F>>>())
      .max(maxEntries)
      .transform((objects): unknown[] => objects)
      .pipe(z.array(object).refine(isAllowed)),
    expects,
    each,
    members,
    json: { type: 'array', maxItems: maxEntries },
  } satisfies Field;
}

function dropNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}
