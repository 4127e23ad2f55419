/** A request that a person has written as JSON, checked before it is sent. */
import { describeProblems } from '#contract/decode.ts';
import { describeError } from '#contract/errors/service-error.ts';
import { type CallOf, OPERATIONS } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Fields } from '#contract/schema/fields.ts';
import { dropAbsent } from '#contract/schema/members.ts';
import { CliError } from './context.ts';

/**
 * The object as it was written, with `added`: the schema's output is for the service. Throws `CliError` that names the field;
 * `where` says where the JSON was.
 */
export function readRequest<N extends RouteName>(name: N, json: string, where: string, added: object = {}): CallOf<N> {
  const contract = OPERATIONS[name].request;
  const value = readJsonObject(json, where);
  const request = { ...(Object.hasOwn(contract.fields, 'if_revision') ? withoutRevision(value) : value), ...added };
  refuseUnknown(contract.fields, request, name);
  const checked = contract.schema.safeParse(dropAbsent(contract.fields, request, contract.ignored));
  if (!checked.success) {
    const problems = describeProblems(contract, request, checked.error);
    const lines = problems.map(({ code, ...parameters }) => describeError(code, parameters, 'en'));
    throw new CliError([...new Set(lines)].join('\n'));
  }
  // Checked against the schema of this very operation just above.
  return request as CallOf<N>;
}

/** Throws `CliError` unless `json` is an object; `where` says where it was. */
export function readJsonObject(json: string, where: string): object {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new CliError(`${where} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CliError(`${where}: expected a JSON object, as --json prints it`);
  return value;
}

/** What a reading has printed may be set as it is, also later. */
function withoutRevision(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'revision'));
}

/** The service ignores them; a person has misspelt one. `at` says where `given` is, and is '' for the request itself. */
function refuseUnknown(fields: Fields, given: object, taker: string, at = ''): void {
  for (const [name, value] of Object.entries(given)) {
    const path = at === '' ? name : `${at}[${name}]`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined)
      throw new CliError(`unknown field ${path}; fields of ${taker}: ${Object.keys(fields).join(', ')}`);
    if (field.members === undefined || !Array.isArray(value)) continue;
    for (const [index, entry] of value.entries())
      if (typeof entry === 'object' && entry !== null)
        refuseUnknown(field.members, entry, `each of ${path}`, `${path}[${index}]`);
  }
}
