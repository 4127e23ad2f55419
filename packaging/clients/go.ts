/** A client in Go, of its standard library alone. */
import type { OpenApi } from '#contract/openapi/document.ts';
import type { JsonSchema, JsonSchemas } from '#contract/openapi/schema.ts';
import {
  type ApiField,
  type ApiOperation,
  membersOf,
  namedData,
  nameOf,
  readOperations,
  resolve,
} from './read-operations.ts';

/** `runtime`: the text of `runtime/causeway.go`. */
export function writeGo(document: OpenApi, runtime: string): string {
  const { schemas } = document.components;
  const operations = readOperations(document);
  const types = Object.entries(namedData(operations, schemas)).map(
    ([name, schema]) => `type ${name} ${typeOf(schema, schemas, false)}\n`,
  );
  return [
    '// Package causeway is a client of the Causeway interface, generated from its OpenAPI document.',
    runtime,
    '// Codes of errors.',
    'const (',
    ...(schemas['ErrorCode']?.enum ?? []).map((code) => `\tCode${titleOf(String(code))} = ${JSON.stringify(code)}`),
    ')\n',
    ...types,
    ...operations.map((operation) => writeOperation(operation, schemas)),
  ].join('\n');
}

function writeOperation({ path, summary, title, fields, data, success }: ApiOperation, schemas: JsonSchemas): string {
  const result = data.properties === undefined ? typeOf(data, schemas, false) : 'json.RawMessage';
  return `// ${title}Request has the fields of ${title}.
type ${title}Request ${structOf(fields, schemas, true)}

// ${title}: ${summary}.
func (c *Client) ${title}(ctx context.Context, request ${title}Request) (${result}, error) {
	var data ${result}
	err := c.call(ctx, ${JSON.stringify(path)}, ${success}, request, &data)
	return data, err
}
`;
}

function structOf(members: readonly ApiField[], schemas: JsonSchemas, isRequest: boolean): string {
  const lines = members.map(({ name, schema, isRequired }) => {
    const type = typeOf(schema, schemas, isRequest);
    const isLeftOut = isRequest && !isRequired;
    return `\t${titleOf(name)} ${isLeftOut ? '*' : ''}${type} \`json:"${name}${isLeftOut ? ',omitempty' : ''}"\``;
  });
  return lines.length === 0 ? 'struct{}' : `struct {\n${lines.join('\n')}\n}`;
}

/** Where several types are taken, a request uses the one that can say everything. */
function typeOf(schema: JsonSchema, schemas: JsonSchemas, isRequest: boolean): string {
  const name = nameOf(schema);
  if (name !== undefined && !isRequest) return name;
  const whole = resolve(schema, schemas);
  const { properties, items, anyOf, enum: values, const: only, additionalProperties } = whole;
  if (properties !== undefined) return structOf(membersOf(whole), schemas, isRequest);
  if (items !== undefined) return `[]${typeOf(items, schemas, isRequest)}`;
  if (anyOf !== undefined) return unionOf(anyOf, schemas, isRequest);
  if (additionalProperties !== undefined)
    return `map[string]${typeOf(Object(additionalProperties), schemas, isRequest)}`;
  const types = [whole.type ?? [...(values ?? [only])].map((value) => typeof value)].flat();
  if (types.includes('string')) return 'string';
  return TYPES[types[0] ?? ''] ?? 'json.RawMessage';
}

const TYPES: Readonly<Record<string, string>> = {
  integer: 'int64',
  number: 'float64',
  boolean: 'bool',
};

/** An absent value is a nil pointer; an integer that may be a text is a json.Number. */
function unionOf(all: readonly JsonSchema[], schemas: JsonSchemas, isRequest: boolean): string {
  const kinds = all.map((one) => resolve(one, schemas));
  if (!isRequest && kinds.some(({ type }) => type === 'null'))
    return `*${unionOf(
      all.filter((_, index) => kinds[index]?.type !== 'null'),
      schemas,
      isRequest,
    )}`;
  const list = all.find((_, index) => kinds[index]?.items !== undefined);
  if (list !== undefined) return typeOf(list, schemas, isRequest);
  if (kinds.some(({ type }) => type === 'integer') && kinds.some(({ type }) => type === 'string')) return 'json.Number';
  return typeOf(all[0] ?? {}, schemas, isRequest);
}

/** `domain_id` as `DomainID`: Go writes initialisms in capitals. */
function titleOf(name: string): string {
  return name
    .split('_')
    .map((word) => (INITIALISMS.includes(word) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
}

const INITIALISMS = ['id', 'ip', 'url', 'urls', 'ua', 'ssl', 'http', 'html', 'cdn', 'sms'];
