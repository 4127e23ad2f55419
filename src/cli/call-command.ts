/** `causeway call`: any operation of the interface, checked here first, its answer's data as JSON. */
import { Command } from 'commander';
import type { Client } from '#client/client.ts';
import { isRouteName, ROUTE_NAMES, ROUTES } from '#contract/routes.ts';
import { asOperator, connectCustomer, withOperator } from './connect.ts';
import { type CliContext, CliError } from './context.ts';
import { addSettings, CALL_SETTINGS, givenSettings, type Options, textOption } from './options.ts';
import { readRequest } from './read-request.ts';

export function callCommand(context: CliContext): Command {
  return addSettings(new Command('call'), context, CALL_SETTINGS)
    .option('--json <object>', 'the fields of the request, without access_token', '{}')
    .argument('<operation>', `one of ${ROUTE_NAMES.join(', ')}`)
    .description('call any operation of the interface; give its fields with --json')
    .action((operation: string, options: Options) => callOperation(context, operation, options));
}

async function callOperation(context: CliContext, operation: string, options: Options): Promise<void> {
  if (!isRouteName(operation)) throw new CliError(`there is no operation ${operation}: see causeway call --help`);
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
