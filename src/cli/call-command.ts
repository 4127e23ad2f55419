/** `causeway call`: any operation of the interface, checked here first, its answer's data as JSON. */
import { Command } from 'commander';
import type { Client } from '#client/client.ts';
import { describeProblems } from '#contract/decode.ts';
import { type CallOf, OPERATIONS } from '#contract/operations.ts';
import { isRouteName, ROUTE_NAMES, ROUTES, type RouteName } from '#contract/routes.ts';
import { connectCustomer, withOperator } from './connect.ts';
import { type CliContext, CliError } from './context.ts';
import { addSettings, CALL_SETTINGS, givenSettings, type Options, textOption } from './options.ts';

export function callCommand(context: CliContext): Command {
  return addSettings(new Command('call'), context, CALL_SETTINGS)
    .option('--json <object>', 'the fields of the request, without access_token', '{}')
    .argument('<operation>', `one of ${ROUTE_NAMES.join(', ')}`)
    .description('call any operation of the interface; give its fields with --json')
    .action((operation: string, options: Options) => callOperation(context, operation, options));
}

async function callOperation(context: CliContext, operation: string, options: Options): Promise<void> {
  if (!isRouteName(operation)) throw new CliError(`there is no operation ${operation}: see causeway call --help`);
  const request = readRequest(operation, textOption(options, 'json') ?? '{}');
  const given = givenSettings(context, options);
  const work = async (client: Client) => {
    // Checked against the schema of this very operation just above.
    const data = await client.call(operation, request as CallOf<typeof operation>);
    context.print(JSON.stringify(data, undefined, 2));
  };
  const hasToken = context.loadSettings(given).token !== undefined;
  if (ROUTES[operation].scope === 'operator' && !hasToken) await withOperator(context, given, work);
  else await work(connectCustomer(context, given));
}

/** The object as it was written: the schema's output is for the service. Throws `CliError` that names the field. */
function readRequest(operation: RouteName, json: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new CliError(`--json is no JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CliError('--json: expected an object');
  const contract = OPERATIONS[operation].request;
  const checked = contract.schema.safeParse(value);
  if (!checked.success) {
    const problems = describeProblems(contract, value, checked.error);
    const lines = problems.map(({ field, expected }) => `field ${field}: expected ${expected.en}`);
    throw new CliError([...new Set(lines)].join('\n'));
  }
  return Object.fromEntries(Object.entries(value));
}
