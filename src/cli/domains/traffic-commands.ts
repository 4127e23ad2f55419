/** `causeway traffic`: log files and statistics of an account's domains, in words for people. */
import { Command, Option } from 'commander';
import type { Client } from '#client/transport.ts';
import { GRAINS, TOP_LISTS } from '#contract/domains/traffic-operations.ts';
import { bandwidthLines, monthAsked, monthOption } from '../command/bandwidth-rows.ts';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { findDomainId, findDomainName } from '../command/find-domain.ts';
import { addCallCommand, addCallSettings, givenSettings, type Options, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { printer } from '../command/run-operation.ts';
import { addTimes, timesOf, timeTexts, ZONE } from '../command/times.ts';

export function trafficCommand(context: CliContext): Command {
  const command = new Command('traffic').description("access logs and traffic statistics of the account's domains");
  const describe = (usage: string, description: string) => {
    return addTimes(addCallSettings(command.command(usage), context).description(description));
  };
  describe('logs <domain>', 'list the daily log files with their download URLs').action(
    (domain: string, options: Options) => listLogs(context, domain, options),
  );
  describe('sums [domain]', `show bytes and requests of one domain or of all, by interval (in the ${ZONE})`)
    .addOption(new Option('--interval <interval>', 'length of each interval').choices(GRAINS).default('hour'))
    .action((domain: string | undefined, options: Options) => showSums(context, domain, options));
  addCallCommand(command, context, 'live [domain]', 'show the requests of the last five minutes by ten seconds').action(
    (domain: string | undefined, options: Options) => showLive(context, domain, options),
  );
  addCallCommand(
    command,
    context,
    'bandwidth [domain]',
    'show the 95th percentile of the bandwidth in a month, of one domain or of all',
  )
    .addOption(monthOption())
    .action((domain: string | undefined, options: Options) => showBandwidth(context, domain, options));
  describe('top <kind> [domain]', `show what was requested most (approximate): ${TOP_LISTS.join(', ')}`)
    .option('--limit <number>', 'number of rows, at most 100')
    .action((kind: string, domain: string | undefined, options: Options) => showTop(context, kind, domain, options));
  return command;
}

async function listLogs(context: CliContext, domain: string, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const data = await client.call('log.list', {
    domain: await findDomainName(client, domain),
    ...timesOf(context, options),
  });
  const rows = data.logfiles.map(({ logTime, size, name, url }) => [logTime, size, name, url]);
  printer(context, options)(
    data,
    rows.length === 0 ? ['no log files'] : formatTable([['DAY', 'BYTES', 'NAME', 'URL'], ...rows]),
  );
}

async function showSums(context: CliContext, domain: string | undefined, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const interval = GRAINS.find((grain) => grain === options['interval']);
  const asked = {
    ...(await domainOf(client, domain)),
    ...(interval !== undefined && { interval }),
    ...timesOf(context, options),
  };
  const { ofSeconds } = timeTexts(context, options);
  const traffic = await client.call('stat.traffic', asked);
  const requests = await client.call('stat.requests', asked);
  const row = (time: string, bytes: (typeof traffic)['total'], counts: (typeof requests)['total']) => [
    time,
    ...[
      counts.requests,
      counts.hits,
      bytes.bytes_out,
      bytes.hit_bytes,
      bytes.bytes_origin,
      counts.status_4xx,
      counts.status_5xx,
    ].map(String),
  ];
  const rows = traffic.list.flatMap((bytes, index) => {
    const counts = requests.list[index];
    if (counts === undefined || counts.requests + bytes.bytes_origin === 0) return [];
    return [row(ofSeconds(bytes.time), bytes, counts)];
  });
  const heading = ['TIME', 'REQUESTS', 'HITS', 'BYTES', 'HIT BYTES', 'ORIGIN BYTES', '4XX', '5XX'];
  printer(context, options)(
    { traffic, requests },
    formatTable([heading, ...rows, row('total', traffic.total, requests.total)]),
  );
}

async function showTop(context: CliContext, kind: string, domain: string | undefined, options: Options): Promise<void> {
  const list = TOP_LISTS.find((one) => one === kind);
  if (list === undefined) throw new CliError(`<kind>: expected ${TOP_LISTS.join(', ')}, not ${kind}`);
  const client = connectCustomer(context, givenSettings(context, options));
  const limit = textOption(options, 'limit');
  const data = await client.call('stat.top', {
    kind: list,
    ...(await domainOf(client, domain)),
    ...(limit !== undefined && { limit }),
    ...timesOf(context, options),
  });
  const rows = data.list.map(({ value, requests, bytes }) => [String(requests), String(bytes), value]);
  printer(context, options)(data, formatTable([['REQUESTS', 'BYTES', kind.toUpperCase()], ...rows]));
}

async function showLive(context: CliContext, domain: string | undefined, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const domain_id = domain === undefined ? undefined : await findDomainId(client, domain);
  const data = await client.call('stat.live', domain_id === undefined ? {} : { domain_id });
  const { ofSeconds } = timeTexts(context, options);
  const rows = data.list.map(({ at, requests, hits, bytes_out, status_4xx, status_5xx }) => [
    ofSeconds(at / 1000),
    ...[requests, hits, bytes_out, status_4xx, status_5xx].map(String),
  ]);
  const missing = data.missing_edges === 0 ? [] : [`without ${data.missing_edges} edges, which did not answer`];
  const heading = ['TIME', 'REQUESTS', 'HITS', 'BYTES', '4XX', '5XX'];
  printer(context, options)(data, [...formatTable([heading, ...rows]), ...missing]);
}

async function showBandwidth(context: CliContext, domain: string | undefined, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const domain_ids = domain === undefined ? undefined : [await findDomainId(client, domain)];
  const asked = { ...monthAsked(options), ...(domain_ids !== undefined && { domain_ids }) };
  const data = await client.call('stat.bandwidth', asked);
  printer(context, options)(data, bandwidthLines(context, options, data));
}

async function domainOf(client: Client, domain: string | undefined): Promise<{ readonly domain?: string }> {
  return domain === undefined ? {} : { domain: await findDomainName(client, domain) };
}
