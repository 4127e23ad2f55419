/** `causeway account`: for the operator of this machine, whether the service runs or not. */
import { Command } from 'commander';
import { readAllPages } from '../command/all-pages.ts';
import { bandwidthLines, monthAsked, monthOption } from '../command/bandwidth-rows.ts';
import type { CliContext } from '../command/context.ts';
import { addCallCommand, type Options, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { run } from '../command/run-operation.ts';
import { timeTexts } from '../command/times.ts';

export function accountCommand(context: CliContext): Command {
  const command = new Command('account').description('manage the accounts of customers and operators');
  addCallCommand(command, context, 'create <name>', 'create an account')
    .option('--operator', 'create an operator account instead of a customer account')
    .action((name: string, options: Options) =>
      run(context, options, async (client, print) => {
        const kind = options['operator'] === true ? 'operator' : 'customer';
        const data = await client.call('operator.createAccount', { name, kind });
        print(data, [`account ${data.account_id}`]);
      }),
    );
  addCallCommand(command, context, 'list', 'list all accounts').action((options: Options) =>
    run(context, options, async (client, print) => {
      const accounts = await readAllPages((page) => client.call('operator.listAccounts', page));
      const { ofLocal } = timeTexts(context, options);
      const rows = accounts.map((one) => [
        ...[one.account_id, one.kind, one.enabled === '1' ? 'on' : 'off', ofLocal(one.create_time)],
        ...[String(one.domains), String(one.apps), String(one.tokens), String(one.balance ?? '-'), one.name],
      ]);
      const heading = ['ID', 'KIND', 'STATUS', 'CREATED', 'DOMAINS', 'SMS SERVICES', 'TOKENS', 'BALANCE', 'NAME'];
      print(accounts, formatTable([heading, ...rows]));
    }),
  );
  for (const [name, description, enabled] of STATUS_COMMANDS)
    addCallCommand(command, context, `${name} <account>`, description).action((account: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('operator.setAccountStatus', { account_id: account, enabled });
        print(data, [`account ${account} ${name}d`]);
      }),
    );
  addLimitsCommand(command, context);
  addCallCommand(command, context, 'bandwidth <account>', 'show the 95th percentile of the bandwidth in a month')
    .addOption(monthOption())
    .action((account: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('operator.getBandwidth', { account_id: account, ...monthAsked(options) });
        print(data, bandwidthLines(context, options, data));
      }),
    );
  return command;
}

/** Shows the limits of an account, or sets those that options name. */
function addLimitsCommand(command: Command, context: CliContext): void {
  const limits = addCallCommand(command, context, 'limits <account>', 'show or set the limits of an account');
  for (const [flags, description, field] of LIMIT_OPTIONS)
    limits.option(flags, `${description}; "" ${EMPTY[field] ?? 'for that of the service'}`);
  limits.action((account: string, options: Options) =>
    run(context, options, async (client, print) => {
      const asked = LIMIT_OPTIONS.map(([, , field]) => [field, textOption(options, toOptionName(field))] as const);
      const given = Object.fromEntries(asked.filter(([, value]) => value !== undefined));
      if (Object.keys(given).length > 0) {
        const data = await client.call('operator.setAccountLimits', { account_id: account, ...given });
        return print(data, [`limits of account ${account} set`]);
      }
      const data = await client.call('operator.getAccountLimits', { account_id: account });
      const { ofSeconds } = timeTexts(context, options);
      const shown = {
        ...data,
        requests_per_second: data.requests_per_second || 'no limit',
        bandwidth_mbps: data.bandwidth_mbps || 'no limit',
        over_since: data.over_since === 0 ? '-' : ofSeconds(data.over_since),
      };
      const rows = Object.entries(shown).map(([name, value]) =>
        typeof value === 'object' ? [name, String(value.limit), String(value.used)] : [name, String(value), '-'],
      );
      print(data, formatTable([['LIMIT', 'VALUE', 'USED'], ...rows]));
    }),
  );
}

function toOptionName(field: string): string {
  return field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const LIMIT_OPTIONS = [
  ['--requests-per-second <number>', 'calls a second of all its tokens together', 'requests_per_second'],
  ['--domains <number>', 'domains that it can have', 'domains'],
  ['--purge-urls <number>', 'URLs that it can purge in a day', 'purge_urls'],
  ['--purge-directories <number>', 'directories and domains that it can purge in a day', 'purge_directories'],
  ['--prefetch-urls <number>', 'URLs that it can prefetch in a day', 'prefetch_urls'],
  ['--bandwidth-mbps <number>', 'Mbit/s to viewers, as the mean of five minutes', 'bandwidth_mbps'],
  ['--over-bandwidth <what>', 'what happens beyond that: nothing, or refuse', 'over_bandwidth'],
] as const;

/** What an empty text means, where the service has no such setting. */
const EMPTY: Readonly<Record<string, string>> = {
  requests_per_second: 'for no limit',
  bandwidth_mbps: 'for no limit',
  over_bandwidth: 'for nothing',
};

const STATUS_COMMANDS = [
  ['disable', 'reject the tokens of an account; its domains stay in service', 0],
  ['enable', 'accept the tokens of a disabled account again', 1],
] as const;
