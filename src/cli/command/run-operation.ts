/** The operator of this machine runs an operation, and its answer is printed as lines or as JSON. */
import type { Client } from '#client/transport.ts';
import { withOperator } from './connect.ts';
import type { CliContext } from './context.ts';
import { givenSettings, type Options } from './options.ts';

type Print = (data: unknown, lines: readonly string[]) => void;

/** Runs `work` as the operator of this machine; what it prints is JSON or lines, as the options say. */
export function run(
  context: CliContext,
  options: Options,
  work: (client: Client, print: Print) => Promise<void>,
): Promise<void> {
  return withOperator(context, givenSettings(context, options), (client) => work(client, printer(context, options)));
}

export function printer(context: CliContext, options: Options): Print {
  return (data, lines) => {
    if (options['json'] === true) context.print(JSON.stringify(data, undefined, 2));
    else for (const line of lines) context.print(line);
  };
}
