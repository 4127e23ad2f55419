/** A request that a person has written as JSON, checked before it is sent. */
import { describeProblems } from '#contract/decode.ts';
import { describeError } from '#contract/errors.ts';
import { type CallOf, OPERATIONS } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { CliError } from './context.ts';

/**
 * The object as it was written, with `added`: the schema's output is for the service. Throws `CliError` that names the field;
 * `where` says where the JSON was.
 */
export function readRequest<N extends RouteName>(name: N, json: string, where: string, added: object = {}): CallOf<N> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new CliError(`${where} is no JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CliError(`${where}: expected an object`);
  const request = { ...value, ...added };
  const contract = OPERATIONS[name].request;
  // The service ignores them; a person has misspelt one.
  const unknown = Object.keys(request).find((field) => !Object.hasOwn(contract.fields, field));
  if (unknown !== undefined)
    throw new CliError(`there is no field ${unknown}: ${name} takes ${Object.keys(contract.fields).join(', ')}`);
  const checked = contract.schema.safeParse(request);
  if (!checked.success) {
    const problems = describeProblems(contract, request, checked.error);
    const lines = problems.map(({ code, ...parameters }) => describeError(code, parameters, 'en'));
    throw new CliError([...new Set(lines)].join('\n'));
  }
  // Checked against the schema of this very operation just above.
  return request as CallOf<N>;
}
