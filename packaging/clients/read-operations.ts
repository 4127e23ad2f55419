/** The operations of an OpenAPI document of Causeway, as generators of clients need them. */
import type { OpenApi } from '#contract/openapi/document.ts';
import type { JsonSchema, JsonSchemas } from '#contract/openapi/schema.ts';

export interface ApiOperation {
  /** `domain.add`. */
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  /** Name in the schemas: `DomainAdd`. */
  readonly title: string;
  /** Fields without the token. */
  readonly fields: readonly ApiField[];
  /** It adds something, and can be repeated with an Idempotency-Key. */
  readonly takesKey: boolean;
  readonly data: JsonSchema;
  /** Status of a success. */
  readonly success: number;
}

export interface ApiField {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

export function readOperations({ paths, components: { schemas } }: OpenApi): readonly ApiOperation[] {
  return Object.entries(paths).map(([path, { post }]) => {
    const asked = post.requestBody.content['application/json'].schema;
    const answer = resolve(post.responses[200].content['application/json'].schema, schemas);
    const success = resolve(answer.oneOf?.[0] ?? {}, schemas);
    const members = success.properties ?? {};
    return {
      id: post.operationId,
      path,
      summary: post.summary,
      title: nameOf(asked)?.replace(/Request$/, '') ?? '',
      fields: membersOf(resolve(asked, schemas)).filter(({ name }) => name !== 'access_token'),
      takesKey: post.parameters?.some(({ $ref }) => $ref.endsWith('/Idempotency-Key')) ?? false,
      data: members['data'] ?? success,
      success: Number((members['status'] ?? members['code'])?.const),
    };
  });
}

export function membersOf({ properties = {}, required = [] }: JsonSchema): readonly ApiField[] {
  return Object.entries(properties).map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) }));
}

/** Name of the schema that `schema` refers to. */
export function nameOf({ $ref }: JsonSchema): string | undefined {
  return $ref?.split('/').at(-1);
}

export function resolve(schema: JsonSchema, schemas: JsonSchemas): JsonSchema {
  const name = nameOf(schema);
  return name === undefined ? schema : resolve(schemas[name] ?? {}, schemas);
}

/** The schemas that data refers to, with all that they refer to. */
export function namedData(operations: readonly ApiOperation[], schemas: JsonSchemas): JsonSchemas {
  const found: Record<string, JsonSchema> = {};
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const name = nameOf({ ...value });
    if (name !== undefined && found[name] === undefined) {
      found[name] = schemas[name] ?? {};
      visit(found[name]);
    }
    for (const inner of Object.values(value)) visit(inner);
  };
  for (const { data } of operations) visit(data);
  return found;
}
