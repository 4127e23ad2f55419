/** `causeway address-list`: lists of addresses that domains share; `causeway domain address-lists`: which a domain uses. */

import { Command } from 'commander';
import { connectCustomer } from '../command/connect.ts';
import type { CliContext } from '../command/context.ts';
import { onDomain, WAIT_MEANING } from '../command/on-domain.ts';
import {
  addCallCommand,
  addChangeSettings,
  addToList,
  givenSettings,
  ifRevision,
  listOption,
  type Options,
} from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { readUserFile } from '../command/read-user-file.ts';
import { printer } from '../command/run-operation.ts';
import { timeTexts } from '../command/times.ts';

export function addressListCommand(context: CliContext): Command {
  const command = new Command('address-list').description("manage lists of addresses that the account's domains share");
  addCallCommand(command, context, 'list', 'list the lists of addresses').action(async (options: Options) => {
    const { list } = await connectCustomer(context, givenSettings(context, options)).call('addressList.list', {});
    const rows = list.map(({ name, addresses, domains }) => [name, String(addresses), domains.join(' ') || '-']);
    printer(context, options)(list, formatTable([['NAME', 'ADDRESSES', 'DOMAINS'], ...rows]));
  });
  addCallCommand(command, context, 'show <name>', 'show a list, an address or network a line').action(
    async (name: string, options: Options) => {
      const data = await connectCustomer(context, givenSettings(context, options)).call('addressList.get', { name });
      const { ofLocal } = timeTexts(context, options);
      const pairs = [
        ['name', data.name],
        ['domains', data.domains.join(' ') || '-'],
        ['changed', ofLocal(data.changed_time)],
      ] as const;
      printer(context, options)(data, [...formatPairs(pairs), ...data.addresses]);
    },
  );
  addCallCommand(
    command,
    context,
    'set <name> <file>',
    'add a list, or replace its addresses: with those in a file, between blanks, line ends or commas',
  ).action(async (name: string, file: string, options: Options) => {
    const addresses = readUserFile(file).split(/[\s,]+/);
    const client = connectCustomer(context, givenSettings(context, options));
    const data = await client.call('addressList.set', { name, addresses });
    printer(context, options)(data, [`list ${name} set`]);
  });
  addCallCommand(command, context, 'rm <name>', 'delete a list that no domain uses').action(
    async (name: string, options: Options) => {
      const data = await connectCustomer(context, givenSettings(context, options)).call('addressList.delete', { name });
      printer(context, options)(data, [`list ${name} deleted`]);
    },
  );
  return command;
}

export function addressListsCommand(context: CliContext): Command {
  return addChangeSettings(new Command('address-lists').argument('<domain>'), context)
    .description('show which lists of addresses a domain denies and allows, or change the given ones')
    .option('--deny <names>', 'lists to deny; none: no list', addToList)
    .option('--allow <names>', 'lists to allow, and no other clients; none: no list', addToList)
    .option('--wait', WAIT_MEANING)
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, async (client, id) => {
        const [deny, allow] = [namesOf(options, 'deny'), namesOf(options, 'allow')];
        if (deny !== undefined || allow !== undefined)
          await client.call('config.setAddressLists', { domain_id: id, deny, allow, ...ifRevision(options) });
        const data = await client.call('config.getAddressLists', { domain_id: id });
        const lines = formatPairs([
          ['deny', data.deny.join(' ') || 'none'],
          ['allow', data.allow.join(' ') || 'none'],
        ]);
        return { data, lines };
      }),
    );
}

/** `undefined` if the option was not given. */
function namesOf(options: Options, option: string): string[] | undefined {
  if (options[option] === undefined) return undefined;
  return listOption(options, option).filter((name) => name !== 'none');
}
