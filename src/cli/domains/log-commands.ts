/** `causeway log`: the lines of a domain's log, as edges write them or of the last day. */
import { Command } from 'commander';
import { openCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { findDomainId } from '../command/find-domain.ts';
import { onDomain } from '../command/on-domain.ts';
import { addCallCommand, givenSettings, type Options, parseWholeNumber, textOption } from '../command/options.ts';
import { readTextLines } from '../command/read-text-lines.ts';
import { addTimes, timesOf } from '../command/times.ts';

export function logCommand(context: CliContext): Command {
  const command = new Command('log').description("the log of the account's domains");
  addCallCommand(command, context, 'tail <domain>', "print the domain's log lines as edges write them")
    .option(
      '--filter <terms>',
      'only lines that match, such as "status=5xx path=/api/*"; fields: status, method, path, client, cache, edge',
    )
    .option('--seconds <number>', 'for how long, at most 600')
    .action((domain: string, options: Options) => tail(context, domain, options));
  const searching = addCallCommand(
    command,
    context,
    'search <domain>',
    "search the domain's log of the last 24 hours, newest files first",
  );
  addTimes(searching)
    .option('--filter <terms>', 'only lines that match, as of tail')
    .option('--limit <number>', 'number of lines, at most 200', parseWholeNumber)
    .option('--after <place>', 'search on from where the search before ended')
    .action((domain: string, options: Options) => search(context, domain, options));
  return command;
}

async function search(context: CliContext, domain: string, options: Options): Promise<void> {
  const { limit } = options;
  const [filter, after] = [textOption(options, 'filter'), textOption(options, 'after')];
  await onDomain(context, domain, options, async (client, id) => {
    const data = await client.call('log.search', {
      domain_id: id,
      ...(filter !== undefined && { filter }),
      ...timesOf(context, options),
      ...(after !== undefined && { after }),
      ...(typeof limit === 'number' && { limit }),
    });
    const more = data.next === '' ? [] : [`there is more to search: --after ${data.next}`];
    return { data, lines: [...data.list.flatMap(describe), ...more] };
  });
}

/** An object of the stream. */
type Item = Readonly<Record<string, unknown>>;

async function tail(context: CliContext, domain: string, options: Options): Promise<void> {
  const { client, get } = openCustomer(context, givenSettings(context, options));
  const filter = textOption(options, 'filter');
  const seconds = textOption(options, 'seconds');
  const { url } = await client.call('log.tail', {
    domain_id: await findDomainId(client, domain),
    ...(filter !== undefined && { filter }),
    ...(seconds !== undefined && { seconds }),
  });
  const response = await get(url);
  if (!response.ok || response.body === null) throw new CliError(await describeRefusal(response));
  const isJson = options['json'] === true;
  const end = await printAll(response.body, (item, text) => {
    for (const line of isJson ? [text] : describe(item)) context.print(line);
  });
  if (end !== 'time') throw new CliError(ENDS[end] ?? 'the service has ended it');
}

/** Returns why the stream has ended. */
async function printAll(body: AsyncIterable<Uint8Array>, print: (item: Item, text: string) => void): Promise<string> {
  try {
    for await (const text of readTextLines(body)) {
      if (text === '') continue;
      const item: Item = JSON.parse(text);
      print(item, text);
      if (item['end'] !== undefined) return String(item['end']);
    }
  } catch (error) {
    throw new CliError(LOST, { cause: error });
  }
  throw new CliError(LOST);
}

const LOST = 'the connection was lost; run the command again';
const ENDS: Readonly<Record<string, string>> = {
  stopping: 'the service is stopping; run the command again',
  domain: 'the account does not have the domain any more',
};

function describe(item: Item): readonly string[] {
  if (item['dropped'] !== undefined) return [`(${item['dropped']} more lines matched and are not shown)`];
  if (item['edge'] === undefined) return [];
  const { time, edge, client, method, host, target, status, cache, response_bytes, duration_ms } = item;
  return [
    `${time} ${edge} ${client} ${method} ${host}${target} ${status} ${cache} ${response_bytes} B ${duration_ms} ms`,
  ];
}

async function describeRefusal(response: Response): Promise<string> {
  try {
    const { info } = Object(JSON.parse(await response.text()));
    if (typeof info === 'string') return info;
  } catch {
    // not the service's answer
  }
  return `HTTP ${response.status}, which is no answer of this service`;
}
