/** Several fields together: as a request, or as each object of a list; and which of them the others make necessary. */
import * as z from 'zod';
import type { Fields } from './fields.ts';

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
