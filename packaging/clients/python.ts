/** A client in Python, of its standard library alone (3.11 and newer). */
import type { OpenApi } from '#contract/openapi/document.ts';
import type { JsonSchema, JsonSchemas } from '#contract/openapi/schema.ts';
import { type ApiOperation, membersOf, namedData, nameOf, readOperations, resolve } from './read-operations.ts';

const KEYWORDS = ['from', 'class', 'global', 'import', 'in', 'is', 'lambda', 'pass', 'with'];

/** `runtime`: the text of `runtime/causeway.py`. */
export function writePython(document: OpenApi, runtime: string): string {
  const { schemas } = document.components;
  const operations = readOperations(document);
  const types = Object.entries(namedData(operations, schemas)).map(([name, schema]) => writeType(name, schema));
  return [
    '"""Client of the Causeway interface, generated from its OpenAPI document."""',
    'from __future__ import annotations\n',
    runtime,
    `\nErrorCode = Literal[${(schemas['ErrorCode']?.enum ?? []).map((code) => JSON.stringify(code)).join(', ')}]\n`,
    ...types,
    '\nclass Client(Caller):',
    '    """One method for each operation. Fields that may be left out are None."""\n',
    ...operations.map((operation) => writeMethod(operation, schemas)),
  ].join('\n');
}

/** Objects within are written as types of their own, before the type that has them. */
function writeType(name: string, schema: JsonSchema): string {
  const { type, before } = typeIn(schema, name);
  if (schema.properties === undefined) return `${before}\n${name}: TypeAlias = ${JSON.stringify(type)}\n`;
  return before;
}

interface Written {
  readonly type: string;
  /** Definitions that the type needs. */
  readonly before: string;
}

/** `name`: that of a type made of the schema's members. */
function typeIn(schema: JsonSchema, name: string): Written {
  const { properties, items, anyOf, enum: values, const: only } = schema;
  const reference = nameOf(schema);
  if (reference !== undefined) return { type: reference, before: '' };
  if (properties !== undefined) return { type: name, before: writeClass(name, schema) };
  if (items !== undefined) {
    const { type, before } = typeIn(items, `${name}Item`);
    return { type: `list[${type}]`, before };
  }
  if (anyOf !== undefined) {
    const all = anyOf.map((one) => typeIn(one, name));
    return {
      type: [...new Set(all.map(({ type }) => type))].join(' | '),
      before: all.map(({ before }) => before).join(''),
    };
  }
  if (values !== undefined) return { type: `Literal[${values.map(literal).join(', ')}]`, before: '' };
  if (only !== undefined) return { type: `Literal[${literal(only)}]`, before: '' };
  return {
    type: [schema.type ?? 'any']
      .flat()
      .map((one) => TYPES[one] ?? 'Any')
      .join(' | '),
    before: '',
  };
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  object: 'dict[str, Any]',
};

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

function writeClass(name: string, schema: JsonSchema): string {
  const members = membersOf(schema).map(({ name: member, schema: inner, isRequired }) => {
    const { type, before } = typeIn(inner, name + titleOf(member));
    return {
      before,
      line: `    ${JSON.stringify(member)}: ${JSON.stringify(isRequired ? type : `NotRequired[${type}]`)},`,
    };
  });
  return `${members.map(({ before }) => before).join('')}
${name} = TypedDict("${name}", {
${members.map(({ line }) => line).join('\n')}
})
`;
}

function titleOf(member: string): string {
  return member
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function writeMethod(operation: ApiOperation, schemas: JsonSchemas): string {
  const { id, path, summary, fields, takesKey, data, success } = operation;
  const ordered = [...fields].sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
  const parameters = ordered.map(({ name, schema, isRequired }) => {
    const type = parameterType(schema, schemas);
    return `        ${parameterName(name)}: ${isRequired ? type : `${type} | None = None`},\n`;
  });
  if (takesKey) parameters.push('        idempotency_key: str | None = None,\n');
  const star = parameters.length === 0 ? '' : `\n        *,\n${parameters.join('')}    `;
  const given = fields.map(({ name }) => `                ${JSON.stringify(name)}: ${parameterName(name)},\n`);
  const { type } = typeIn(data, 'Any');
  return `    def ${id.replace(/[.]/g, '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}(
        self,${star === '' ? '\n    ' : star}) -> ${type === 'Any' || data.properties !== undefined ? 'Any' : type}:
        """${summary}."""
        return self.call(
            ${JSON.stringify(path)},
            ${success},
            {
${given.join('')}            },${takesKey ? '\n            idempotency_key,' : ''}
        )
`;
}

function parameterName(name: string): string {
  return KEYWORDS.includes(name) ? `${name}_` : name;
}

/** The type of a field, without objects' members. */
function parameterType(schema: JsonSchema, schemas: JsonSchemas): string {
  const whole = resolve(schema, schemas);
  if (whole.anyOf !== undefined) return [...new Set(whole.anyOf.map((one) => parameterType(one, schemas)))].join(' | ');
  if (whole.items !== undefined) return `list[${parameterType(whole.items, schemas)}]`;
  return typeIn(whole.properties === undefined ? whole : { type: 'object' }, 'Any').type;
}
