/** `causeway domain`: what a customer does with domains, in words for people. A domain is named by its id or its name. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Client } from '#client/transport.ts';
import { CDN_TYPES, SOURCE_TYPES } from '#contract/domains/domain-data.ts';
import { PENDING_LABEL } from '#contract/domains/labels.ts';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { PAGE_SIZE, readAllPages } from '../command/all-pages.ts';
import { connectCustomer } from '../command/connect.ts';
import type { CliContext } from '../command/context.ts';
import { findDomainId } from '../command/find-domain.ts';
import { WAIT_MEANING, waitForEdges } from '../command/on-domain.ts';
import {
  addCallCommand,
  addChangeSettings,
  addToList,
  givenSettings,
  ifRevision,
  listOption,
  type Options,
  parseWholeNumber,
  textOption,
} from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { printer } from '../command/run-operation.ts';
import { type TimeTexts, timeTexts } from '../command/times.ts';
import { listCommands, refererCommand } from './access-commands.ts';
import { addressListsCommand } from './address-list-commands.ts';
import { cacheOptionsCommand } from './cache-commands.ts';
import { describeWarnings, sslCommand } from './certificate-commands.ts';
import { describeRules } from './describe-rules.ts';
import { addCheckCommand } from './domain-check-command.ts';
import { addExportCommand } from './domain-file-commands.ts';
import { addRevisionCommands } from './domain-revision-commands.ts';
import { addPropagationCommand } from './propagation-command.ts';
import { ruleCommands } from './rule-commands.ts';
import { advancedCommand, policiesCommand } from './setting-commands.ts';
import { signingCommand } from './signing-command.ts';

type Domain = DataOf<'domain.get'>;

const { codes: TYPE_CODES, codeOf: TYPES } = CDN_TYPES;
/** States as status codes of the interface. */
export const STATUSES = { closed: '0', configuring: '1', accelerating: '2', rejected: '5', disabled: '6' } as const;

export function domainCommand(context: CliContext): Command {
  const command = new Command('domain').description('manage the domains of the account that owns the access token');
  addOriginOptions(
    addCallCommand(command, context, 'add <name> [origin...]', 'add a domain; *.example.com is a wildcard'),
  )
    .addOption(
      new Option('--type <type>', `type of content: ${Object.keys(TYPES).join(', ')}, or its number in the API`)
        .choices([...Object.keys(TYPES), ...TYPE_CODES])
        .default('static'),
    )
    .option('--monitor-url <url>', 'URL for health checks of the origins')
    .option('--icp <number>', 'ICP filing number')
    .option('--remark <text>', 'a remark')
    .action((name: string, origins: string[], options: Options) => addDomain(context, name, origins, options));
  addCallCommand(command, context, 'list', 'list domains')
    .option('--name <text>', 'show only domains whose name contains this')
    .addOption(new Option('--status <status>', 'show only domains with this status').choices(Object.keys(STATUSES)))
    .option('--page <number>', 'show only this page', parseWholeNumber)
    .option('--page-size <number>', 'domains per page, at most 100', parseWholeNumber)
    .action((options: Options) => listDomains(context, options));
  addCheckCommand(command, context);
  addPropagationCommand(command, context);
  addCallCommand(command, context, 'show <domain>', 'show a domain with a summary of its rules').action(
    (domain: string, options: Options) => showAll(context, domain, options),
  );
  addExportCommand(command, context);
  addRevisionCommands(command, context);
  addChangeCommands(command, context);
  for (const setting of [policiesCommand, advancedCommand, refererCommand]) command.addCommand(setting(context));
  for (const list of listCommands(context)) command.addCommand(list);
  for (const setting of [addressListsCommand, cacheOptionsCommand, sslCommand]) command.addCommand(setting(context));
  for (const rules of [...ruleCommands(context), signingCommand(context)]) command.addCommand(rules);
  addChangeSettings(command.command('rm <domain>'), context)
    .description('delete a domain')
    .option('--wait', 'close the domain first, and delete it once no edge serves it')
    .action((domain: string, options: Options) => deleteDomain(context, domain, options));
  return command;
}

function addChangeCommands(command: Command, context: CliContext): void {
  const describeChange = (usage: string, description: string) =>
    addChangeSettings(command.command(usage), context).description(description);
  addOriginOptions(describeChange('origin <domain> <origin...>', "replace a domain's origins")).action(
    (domain: string, origins: string[], options: Options) =>
      change(context, domain, options, (client, id) =>
        client.call('domain.updateOrigin', {
          domain_id: id,
          ...originFields(origins, options),
          ...ifRevision(options),
        }),
      ),
  );
  for (const [name, code, description] of [
    ['close', '0', 'close a domain: edges refuse its viewers'],
    ['open', '2', 'open a closed domain'],
  ] as const)
    describeChange(`${name} <domain>`, description)
      .option('--wait', WAIT_MEANING)
      .action((domain: string, options: Options) =>
        change(context, domain, options, (client, id) =>
          client.call('domain.setStatus', { domain_id: id, domain_status: code, ...ifRevision(options) }),
        ),
      );
  describeChange('remark <domain> <text>', 'change the remark of a domain')
    .option('--wait', 'wait until every edge runs earlier changes')
    .action((domain: string, remark: string, options: Options) =>
      change(context, domain, options, (client, id) =>
        client.call('domain.setRemark', { domain_id: id, remark, ...ifRevision(options) }),
      ),
    );
}

function addOriginOptions(command: Command): Command {
  return command
    .option(
      '--backup <origins>',
      'backup origins, used when the others fail; comma-separated, may be repeated',
      addToList,
    )
    .addOption(
      new Option('--source-type <scheme>', 'scheme of requests to origins')
        .choices(SOURCE_TYPES.codes)
        .argParser(readSourceType),
    )
    .option('--source-host <host>', 'Host header of requests to origins (default: the domain)')
    .option('--wait', WAIT_MEANING);
}

async function addDomain(context: CliContext, name: string, origins: string[], options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const type = textOption(options, 'type');
  const { domain_id } = await client.call('domain.add', {
    domain: name,
    cdn_type: pick(TYPES, type) ?? TYPE_CODES.find((code) => code === type) ?? '1',
    monitor_url: textOption(options, 'monitorUrl'),
    icp_no: textOption(options, 'icp'),
    remark: textOption(options, 'remark'),
    ...originFields(origins, options),
  });
  await showDomain(context, client, domain_id, options);
}

async function listDomains(context: CliContext, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const { page: onlyPage, pageSize = PAGE_SIZE } = options;
  const filter = { name: textOption(options, 'name'), domain_status: pick(STATUSES, textOption(options, 'status')) };
  const ask = (page: { page: number; page_size: number }) => client.call('domain.list', { ...filter, ...page });
  const domains =
    onlyPage === undefined
      ? await readAllPages(ask, Number(pageSize))
      : (await ask({ page: Number(onlyPage), page_size: Number(pageSize) })).list;
  const rows = domains.map((domain) => [domain.domain_id, domain.domain_name, domain.status, domain.origin.join(' ')]);
  printer(context, options)(domains, formatTable([['ID', 'NAME', 'STATUS', 'ORIGINS'], ...rows]));
}

/** Changes a domain and shows what it is then. */
async function change(
  context: CliContext,
  domain: string,
  options: Options,
  work: (client: Client, id: string) => Promise<unknown>,
): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const id = await findDomainId(client, domain);
  await work(client, id);
  await showDomain(context, client, id, options);
}

async function deleteDomain(context: CliContext, domain: string, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const id = await findDomainId(client, domain);
  const isClosed = options['wait'] === true && (await closeEverywhere(client, id, options));
  // Closing it has raised the revision.
  const data = await client.call('domain.delete', { domain_id: id, ...(!isClosed && ifRevision(options)) });
  printer(context, options)(data, [`${domain} deleted`]);
}

/** Closes a domain unless it is out of service already. Returns whether it had to be closed. */
async function closeEverywhere(client: Client, id: string, options: Options): Promise<boolean> {
  const { domain_status, status } = await client.call('domain.get', { domain_id: id });
  const isInService = ['1', '2'].includes(String(domain_status)) && status !== PENDING_LABEL.en;
  if (isInService) await client.call('domain.setStatus', { domain_id: id, domain_status: '0', ...ifRevision(options) });
  if (isInService || String(domain_status) === '0') await waitForEdges(client, id);
  return isInService;
}

async function showAll(context: CliContext, name: string, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const domain = await client.call('domain.get', { domain_id: await findDomainId(client, name) });
  if (options['json'] === true) return printer(context, options)(domain, []);
  const rules = await describeRules(client, domain);
  const { domain_id, ssl_control } = domain;
  const { warnings } = ssl_control === '1' ? await client.call('config.getSsl', { domain_id }) : {};
  const pairs = [...describeDomain(domain, timeTexts(context, options)), ...describeWarnings(warnings), ...rules];
  printer(context, options)(domain, formatPairs(pairs));
}

async function showDomain(context: CliContext, client: Client, id: string, options: Options): Promise<void> {
  const isAwaited = options['wait'] === true;
  const domain = isAwaited ? await waitForEdges(client, id) : await client.call('domain.get', { domain_id: id });
  printer(context, options)(domain, formatPairs(describeDomain(domain, timeTexts(context, options))));
}

function describeDomain(domain: Domain, { ofLocal }: TimeTexts): [string, string][] {
  return [
    ['id', domain.domain_id],
    ['name', domain.domain_name],
    ['status', domain.status],
    ['cname', domain.cname],
    ['type', domain.cdn_type],
    ['origins', domain.origin.join(' ')],
    ['backup', domain.backup.join(' ')],
    ['origin scheme', domain.source_type],
    ['origin host', domain.sourcehost],
    ['certificate', domain.ssl_key ?? ''],
    ['second certificate', domain.ssl_key_second ?? ''],
    ['ICP number', domain.icp_no],
    ['remark', domain.remark],
    ['created', ofLocal(domain.create_time)],
    ...(domain.warnings ?? []).map(({ text }): [string, string] => ['warning', text]),
  ];
}

/** `follow` is what people say. */
function readSourceType(text: string): string {
  const name = pick(SOURCE_TYPES.codeOf, text) ?? findSourceType(text);
  if (name !== undefined) return name;
  throw new InvalidArgumentError(`expected ${SOURCE_TYPES.codes.join(', ')}.`);
}

function findSourceType(text: string | undefined) {
  return SOURCE_TYPES.codes.find((code) => code === text);
}

function originFields(origins: readonly string[], options: Options) {
  return {
    data: [...origins],
    backup: [...listOption(options, 'backup')],
    source_type: findSourceType(textOption(options, 'sourceType')),
    sourcehost: textOption(options, 'sourceHost'),
  } satisfies Omit<CallOf<'domain.updateOrigin'>, 'domain_id'>;
}

export function pick<T>(table: Readonly<Record<string, T>>, name: string | undefined): T | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}
