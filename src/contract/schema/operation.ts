/** What is said of one operation besides its route, and the helper that makes a request schema of its fields. */
import * as z from 'zod';
import { accessToken, anyText, type Fields } from './fields.ts';
import type { Localized } from './locale.ts';
import { type Ignored, membersSchema, type Rule, type SchemasOf } from './members.ts';

export interface RequestContract<F extends Fields = Fields> {
  readonly fields: F;
  readonly schema: z.ZodObject<SchemasOf<F>>;
  readonly ignored: readonly Ignored[];
}

export interface Operation {
  readonly summary: Localized;
  /** Fields without `access_token`, which every operation takes. Unknown fields are ignored. */
  readonly request: RequestContract;
  /** `data` of a successful answer. */
  readonly data: z.ZodType;
  readonly sample: { readonly request: Readonly<Record<string, unknown>>; readonly data: unknown };
}

export function request<F extends Fields>(
  fields: F,
  rule?: Rule<NoInfer<F>>,
  ignored: readonly Ignored<keyof NoInfer<F> & string>[] = [],
): RequestContract<F> {
  return { fields, schema: membersSchema(fields, rule), ignored };
}

/** The field that every request carries. */
export const COMMON = request({ access_token: accessToken });

/** Common fields of the SMS base address, where a malformed token gets the code of a wrong one. docs/decisions/0284 */
export const SMS_COMMON = request({ access_token: { ...anyText(accessToken.expects), isSecret: true as const } });

/** Ties the sample to the schemas; returns its argument. */
export function operation<F extends Fields, D extends z.ZodType>(description: {
  readonly summary: Localized;
  readonly request: RequestContract<F>;
  readonly data: D;
  readonly sample: { readonly request: z.input<z.ZodObject<SchemasOf<F>>>; readonly data: z.input<D> };
}) {
  return description;
}

/** What a refused request gets for `data`: a boolean says false, everything else is an empty object. */
export function failureData(data: z.ZodType | undefined): false | Readonly<Record<string, never>> {
  return data instanceof z.ZodBoolean ? false : {};
}
