/** `causeway call`: any operation of the interface, checked here first, its answer's data as JSON. */
import { Command } from 'commander';
import type { Client } from '#client/transport.ts';
import { ROUTE_NAMES, ROUTES, type RouteName } from '#contract/routes.ts';
import { nearest } from '#lib/nearest.ts';
import { asOperator, connectCustomer, withOperator } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { addSettings, CALL_SETTINGS, givenSettings, type Options, textOption } from '../command/options.ts';
import { readRequest } from '../command/read-request.ts';

export function callCommand(context: CliContext): Command {
  return addSettings(new Command('call'), context, CALL_SETTINGS)
    .option('--json <object>', 'fields of the request, without access_token', '{}')
    .argument('<operation>', `path of the operation, the last part of the path, or one of ${ROUTE_NAMES.join(', ')}`)
    .description('call any operation of the API with fields given as JSON')
    .action((operation: string, options: Options) => callOperation(context, operation, options));
}

async function callOperation(context: CliContext, name: string, options: Options): Promise<void> {
  const operation = findOperation(name);
  const request = readRequest(operation, textOption(options, 'json') ?? '{}', '--json');
  const given = givenSettings(context, options);
  const work = async (client: Client) => {
    const data = await client.call(operation, request);
    context.print(JSON.stringify(data, undefined, 2));
  };
  const isOperators = ROUTES[operation].scope === 'operator';
  if (isOperators && context.loadSettings(given).token === undefined) return await withOperator(context, given, work);
  const client = connectCustomer(context, given);
  await work(isOperators ? asOperator(client) : client);
}

/**
 * Finds an operation by our name (`domain.add`), the interface's path (`/domain/addDomain`) or the last part of that,
 * which several may have: a documented operation wins over an extension, and a customer's over an operator's.
 */
function findOperation(name: string): RouteName {
  const found = ROUTE_NAMES.filter((route) => [route, ROUTES[route].path, lastPartOf(route)].includes(name));
  const isDocumented = (route: RouteName) => !('extension' in ROUTES[route]);
  const operation = found.find(isDocumented) ?? found.find((route) => ROUTES[route].scope !== 'operator') ?? found[0];
  if (operation !== undefined) return operation;
  const guess = nearest(name, [
    ...ROUTE_NAMES,
    ...ROUTE_NAMES.map((route) => ROUTES[route].path),
    ...ROUTE_NAMES.map(lastPartOf),
  ]);
  const hint = guess === undefined ? 'see causeway call --help' : `did you mean ${guess}?`;
  throw new CliError(`unknown operation ${name}: ${hint}`);
}

function lastPartOf(name: RouteName): string {
  const { path } = ROUTES[name];
  return path.slice(path.lastIndexOf('/') + 1);
}
