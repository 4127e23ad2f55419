/**
 * `causeway operator domain`: what the people who run the service do with the domains of customers. A domain is named by its
 * id or its name.
 */
import { Command, Option } from 'commander';
import type { Client } from '#client/transport.ts';
import { readAllPages } from '../command/all-pages.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { findAnyDomainId } from '../command/find-domain.ts';
import { addCallCommand, type Options, textOption } from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { run } from '../command/run-operation.ts';
import { timeTexts } from '../command/times.ts';
import { pick, STATUSES } from '../domains/domain-commands.ts';

const STATUS_COMMANDS = [
  ['disable', 'disable a domain: edges refuse its viewers, and its customer cannot open it', 'disabled'],
  ['enable', 'put a disabled domain back into service', 'enabled'],
  ['approve', 'approve a domain that is waiting for review or was rejected', 'approved'],
  ['reject', 'reject a domain until its customer changes a setting; to block it permanently, use disable', 'rejected'],
] as const;

export function operatorCommand(context: CliContext): Command {
  const command = new Command('operator').description('commands for operators of the service');
  const domain = command.command('domain').description("manage customers' domains");
  addCallCommand(domain, context, 'list', 'list the domains of all accounts')
    .option('--account <account>', 'show only domains of this account')
    .option('--name <text>', 'show only domains whose name contains this')
    .option('--exact', 'match --name exactly')
    .addOption(new Option('--status <status>', 'show only domains with this status').choices(Object.keys(STATUSES)))
    .option('--pending', 'show only domains that are waiting for review')
    .action((options: Options) =>
      run(context, options, async (client, print) => {
        const filter = filterOf(options);
        const domains = await readAllPages((page) => client.call('operator.listDomains', { ...filter, ...page }));
        const rows = domains.map((found) => [found.domain_id, found.account_id, found.domain_name, found.status]);
        print(domains, formatTable([['ID', 'ACCOUNT', 'NAME', 'STATUS'], ...rows]));
      }),
    );
  addCallCommand(
    domain,
    context,
    'transfer <account> <domain> <to-account>',
    'move a domain to another account',
  ).action((account: string, name: string, to: string, options: Options) =>
    run(context, options, async (client, print) => {
      const id = await findAnyDomainId(client, name, account);
      const request = { account_id: account, domain_id: id, to_account_id: to };
      print(await client.call('operator.transferDomain', request), [`domain ${id} transferred to account ${to}`]);
    }),
  );
  addGroupsCommand(domain, context);
  for (const [name, description, done] of STATUS_COMMANDS) {
    const change = addCallCommand(domain, context, `${name} <account> <domain>`, description);
    if (name === 'reject') change.option('--reason <text>', 'why; the customer is shown it');
    change.action((account: string, named: string, options: Options) =>
      run(context, options, async (client, print) => {
        const id = await findAnyDomainId(client, named, account);
        const key = { account_id: account, domain_id: id };
        const reason = textOption(options, 'reason');
        const data =
          reason === undefined
            ? await client.call('operator.setDomainStatus', { ...key, action: name })
            : await client.call('operator.rejectDomain', { ...key, reason });
        print(data, [`domain ${id} ${done}`]);
      }),
    );
  }
  addHealthCommand(command, context);
  return command;
}

/** What the metrics of a running service say of its machine. */
function addHealthCommand(command: Command, context: CliContext): void {
  addCallCommand(
    command,
    context,
    'health',
    'show processes, feed, logs, database, certificates and the SMS queue',
  ).action((options: Options) =>
    run(context, options, async (client, print) => {
      const data = await client.call('operator.getHealth', {});
      const { ofSeconds } = timeTexts(context, options);
      const parts = data.parts.map(({ part, up, restarts }) => [part, up ? 'up' : 'down', String(restarts)]);
      const figures = Object.entries({ ...data.feed, ...data.logs, ...data.database, ...data.certificates });
      const queue = data.sms.map(({ state, parts: n, oldest_seconds }) => {
        return [`sms_${state}`, `${n} parts, the oldest for ${Math.round(oldest_seconds)} s`] as const;
      });
      print(data, [
        ...formatTable([['PART', 'STATUS', 'RESTARTS'], ...parts]),
        ...formatPairs([
          ['read', ofSeconds(data.at / 1000)],
          ...figures.map(([name, value]) => [name, String(value ?? '')] as const),
          ...queue,
        ]),
      ]);
    }),
  );
}

/** Shows the groups of edges that serve a domain, or sets them. */
function addGroupsCommand(domain: Command, context: CliContext): void {
  addCallCommand(domain, context, 'groups <account> <domain> [group...]', 'show or set the groups of edges of a domain')
    .option('--default', 'let the default groups serve the domain')
    .action((account: string, named: string, groups: string[], options: Options) =>
      run(context, options, async (client, print) => {
        const id = await findAnyDomainId(client, named, account);
        const key = { account_id: account, domain_id: id };
        const isDefault = options['default'] === true;
        if (isDefault && groups.length > 0) throw new CliError('give groups or --default, not both');
        if (!isDefault && groups.length === 0) {
          const data = await client.call('groupOperator.getDomain', key);
          return print(data, data.groups.length === 0 ? ['the default groups'] : data.groups);
        }
        const data = await client.call('groupOperator.setDomain', { ...key, groups });
        print(data, [`groups of domain ${id} set`, ...(await describeEmptyGroups(client, groups))]);
      }),
    );
}

/** A domain of such a group is being configured until an edge is there: it may be a mistake. */
async function describeEmptyGroups(client: Client, groups: readonly string[]): Promise<readonly string[]> {
  const { list } = await client.call('groupOperator.list', {});
  const empty = list.filter(({ name, edges }) => groups.includes(name) && edges === 0);
  return empty.map(({ name }) => `group ${name} has no edge yet`);
}

function filterOf(options: Options) {
  return {
    account_id: textOption(options, 'account'),
    name: textOption(options, 'name'),
    domain_status: pick(STATUSES, textOption(options, 'status')),
    exact: options['exact'] === true ? ('1' as const) : ('0' as const),
    pending: options['pending'] === true ? ('1' as const) : ('0' as const),
  };
}
