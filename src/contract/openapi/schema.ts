/** JSON Schemas of the OpenAPI document: of the fields of requests, and of data in answers. */
import * as z from 'zod';
import { GIVEN_SETTINGS } from '../changes/setting-topics.ts';
import { passkeyUse } from '../people/person-fields.ts';
import { type Field, type Fields, flag, identifier, originList, unixTime } from '../schema/fields.ts';
import type { Locale } from '../schema/locale.ts';
import { COMMON } from '../schema/operation.ts';

/** A JSON Schema, with the keywords that the document uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: JsonSchemas;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly [keyword: string]: unknown;
}

export type JsonSchemas = Readonly<Record<string, JsonSchema>>;

export function refTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Keywords that a schema needs only in a document of its own. */
const DROPPED = ['$schema', 'id'];

/** Kinds of fields that many requests have, by their names in the document. */
const NAMED_FIELDS: Readonly<Record<string, Field>> = {
  AccessToken: COMMON.fields.access_token,
  Id: identifier,
  Flag: flag,
  OriginAddresses: originList,
  UnixTime: unixTime,
  PasskeyAnswer: passkeyUse,
  SettingsToChange: GIVEN_SETTINGS,
};

const NAMES_BY_TEXT: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMED_FIELDS).map(([name, field]) => [JSON.stringify(plainField(field)), name]),
);

/** The named kinds of fields. */
export function fieldSchemas(locale: Locale): JsonSchemas {
  return Object.fromEntries(
    Object.entries(NAMED_FIELDS).map(([name, field]) => [
      name,
      { ...plainField(field), ...(field.isSecret && SECRET), description: field.expects[locale] },
    ]),
  );
}

const SECRET = { format: 'password', writeOnly: true };

/** An object with these fields. Without those that may be absent, callers leave settings as they are. */
export function requestSchema(fields: Fields, locale: Locale): JsonSchema {
  const entries = Object.entries(fields);
  return {
    type: 'object',
    required: entries.filter(([, { schema }]) => !schema.safeParse(undefined).success).map(([name]) => name),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, fieldSchema(field, locale)])),
  };
}

function fieldSchema(field: Field, locale: Locale): JsonSchema {
  const { schema, expects, members, isEmptyAbsent } = field;
  const plain = plainField(field);
  const name = NAMES_BY_TEXT.get(JSON.stringify(plain));
  const described = {
    ...(name === undefined ? plain : refTo(name)),
    ...(members !== undefined && { items: requestSchema(members, locale) }),
  };
  const needsEmpty = isEmptyAbsent === true && !schema.safeParse('').success;
  const description =
    name !== undefined && NAMED_FIELDS[name]?.expects === expects ? {} : { description: expects[locale] };
  return { ...(needsEmpty ? { anyOf: [described, { const: '' }] } : described), ...description };
}

function plainField({ schema, json }: Field): JsonSchema {
  return json ?? clean(z.toJSONSchema(schema, { io: 'input' }));
}

/** A schema, and the named ones that it refers to. */
export function dataSchema(data: z.ZodType): { readonly schema: JsonSchema; readonly named: JsonSchemas } {
  // Within another object a named schema is a reference too.
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ data }));
  const named = Object.entries($defs).map(([name, schema]) => [name, clean(schema)] as const);
  return { schema: clean(Object(properties)['data']), named: Object.fromEntries(named) };
}

function clean(schema: object): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword, value]) => !DROPPED.includes(keyword) && !keyword.startsWith('~') && !isNoise(keyword, value))
      .map(([keyword, value]) => [keyword, cleanKeyword(keyword, value)]),
  );
}

/** Answers may get new members, so clients must not refuse them. */
function isNoise(keyword: string, value: unknown): boolean {
  return isAnyInteger(value) || (keyword === 'additionalProperties' && value === false);
}

/** The bounds of integers that a number can hold. */
function isAnyInteger(value: unknown): boolean {
  return value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER;
}

function cleanKeyword(keyword: string, value: unknown): unknown {
  if (keyword === '$ref') return String(value).replace('#/$defs/', '#/components/schemas/');
  if (keyword === 'properties')
    return Object.fromEntries(Object.entries(Object(value)).map(([name, schema]) => [name, clean(Object(schema))]));
  if (keyword === 'items' || keyword === 'additionalProperties') return clean(Object(value));
  if (keyword === 'anyOf' && Array.isArray(value)) return value.map((schema) => clean(Object(schema)));
  return value;
}
