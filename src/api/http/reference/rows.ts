/** A JSON Schema of the OpenAPI document as rows of a table: one for each member, those of objects within it too. */
import type { JsonSchema, JsonSchemas } from '#contract/openapi/schema.ts';

export interface Row {
  /** Path of the member: `list[].domain_id`. */
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: string;
  readonly description: string;
}

/** Rows of what is within `schema`; of a schema without members one row without a name. */
export function memberRows(schema: JsonSchema, schemas: JsonSchemas, prefix = ''): readonly Row[] {
  const whole = resolve(schema, schemas);
  if (whole.items !== undefined) return memberRows(whole.items, schemas, `${prefix}[]`);
  if (whole.properties === undefined)
    return prefix === ''
      ? [{ name: '', isRequired: true, type: typeOf(whole, schemas), description: descriptionOf(whole) }]
      : [];
  return Object.entries(whole.properties).flatMap(([name, member]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const found = resolve(member, schemas);
    const inner = found.anyOf?.find((one) => isComposite(resolve(one, schemas))) ?? found;
    const row = {
      name: path,
      isRequired: whole.required?.includes(name) ?? false,
      type: typeOf(member, schemas),
      description: descriptionOf(found),
    };
    return [row, ...(isComposite(resolve(inner, schemas)) ? memberRows(inner, schemas, path) : [])];
  });
}

function isComposite({ properties, items }: JsonSchema): boolean {
  return properties !== undefined || items !== undefined;
}

/** The schema that a reference names; what stands beside the reference goes before. */
function resolve(schema: JsonSchema, schemas: JsonSchemas): JsonSchema {
  const { $ref, ...beside } = schema;
  const name = $ref?.slice($ref.lastIndexOf('/') + 1);
  return name === undefined ? schema : { ...schemas[name], ...beside };
}

function descriptionOf({ description = '' }: JsonSchema): string {
  return description;
}

/** A type as TypeScript would write it, without the members of objects. */
function typeOf(schema: JsonSchema, schemas: JsonSchemas): string {
  const { type, items, const: only, enum: values, anyOf } = resolve(schema, schemas);
  if (only !== undefined) return JSON.stringify(only);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf !== undefined) return [...new Set(anyOf.map((one) => typeOf(one, schemas)))].join(' | ');
  if (items !== undefined) return listOf(typeOf(items, schemas));
  return [type ?? 'any'].flat().join(' | ');
}

function listOf(type: string): string {
  return type.includes(' ') ? `(${type})[]` : `${type}[]`;
}
