/** `causeway sms app`, `price`, `recharge`, `ledger` and `route`: for the operator of this machine. */
import { Command, Option } from 'commander';
import { readAllPages } from '../command/all-pages.ts';
import { type CliContext, CliError } from '../command/context.ts';
import {
  addCallCommand,
  addCallSettings,
  addIfRevision,
  ifRevision,
  type Options,
  splitList,
  textOption,
} from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { run } from '../command/run-operation.ts';
import { timeTexts } from '../command/times.ts';

export function smsAppCommand(context: CliContext): Command {
  const command = new Command('app').description('manage the SMS services of accounts');
  addCallCommand(command, context, 'create', 'create an SMS service, identified by its app_key')
    .requiredOption('--name <name>', 'name of the SMS service')
    .option('--balance <amount>', 'initial credit for the account, in the smallest currency unit')
    .option('--account <account>', 'owner of the SMS service (may be omitted if there is only one customer)')
    .action((options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('smsOperator.createApp', {
          name: textOption(options, 'name') ?? '',
          account_id: textOption(options, 'account'),
          balance: textOption(options, 'balance'),
        });
        print(data, [`app_key ${data.app_key}`, `account ${data.account_id}`, `balance ${data.balance}`]);
      }),
    );
  addCallCommand(command, context, 'list', 'list SMS services')
    .option('--account <account>', 'show only services of this account')
    .action((options: Options) =>
      run(context, options, async (client, print) => {
        const account_id = textOption(options, 'account');
        const apps = await readAllPages((page) => client.call('smsOperator.listApps', { account_id, ...page }));
        const rows = apps.map((app) => [app.app_key, app.account_id, app.status === 1 ? 'on' : 'off', app.name]);
        print(apps, formatTable([['APP KEY', 'ACCOUNT', 'STATUS', 'NAME'], ...rows]));
      }),
    );
  return command;
}

export function smsPriceCommand(context: CliContext): Command {
  const command = new Command('price').description('manage prices per message part');
  addCallCommand(command, context, 'set <price>', 'set the price of a part, in the smallest currency unit')
    .addOption(kindOption())
    .option('--prefix <prefix>', 'prefix of the numbers, such as +852 (default: all other numbers)')
    .action((price: string, options: Options) =>
      run(context, options, async (client, print) => {
        const request = { kind: kindOf(options), prefix: textOption(options, 'prefix'), price };
        print(await client.call('smsOperator.setPrice', request), ['price set']);
      }),
    );
  addCallCommand(command, context, 'remove', 'remove the price of a prefix; the next shorter prefix then applies')
    .addOption(kindOption())
    .requiredOption('--prefix <prefix>', 'prefix of the numbers, such as +852')
    .action(async (options: Options) => {
      const request = { kind: kindOf(options), prefix: textOption(options, 'prefix') };
      if (request.prefix === '')
        throw new CliError('--prefix must not be empty: the default price can be changed but not removed');
      await run(context, options, async (client, print) => {
        print(await client.call('smsOperator.setPrice', request), ['price removed']);
      });
    });
  addCallCommand(command, context, 'test <number>', 'show the price and the route of a number')
    .addOption(kindOption())
    .action((mobile: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('smsOperator.testNumber', { mobile, kind: kindOf(options) });
        print(data, [
          `price ${data.price} (${data.price_prefix || 'all other numbers'})`,
          `route ${data.connectors.join(', ') || 'none'} (${data.route_prefix || 'all other numbers'})`,
        ]);
      }),
    );
  addCallCommand(command, context, 'list', 'list prices').action((options: Options) =>
    run(context, options, async (client, print) => {
      const { list } = await client.call('smsOperator.listPrices', {});
      const rows = list.map(({ kind, prefix, price }) => [kind, prefix || 'all', String(price)]);
      print(list, formatTable([['KIND', 'PREFIX', 'PRICE'], ...rows]));
    }),
  );
  return command;
}

export function smsRechargeCommand(context: CliContext): Command {
  return addCallSettings(new Command('recharge').argument('<account>').argument('<amount>'), context)
    .description("add an amount to an account's balance, in the smallest currency unit; a negative amount is deducted")
    .option(
      '--reference <text>',
      'idempotency key, such as an invoice number: repeated calls with it have no further effect',
    )
    .action((account: string, amount: string, options: Options) =>
      run(context, options, async (client, print) => {
        const reference = textOption(options, 'reference');
        const data = await client.call('smsOperator.recharge', { account_id: account, amount, reference });
        print(data, [`balance ${data.balance}`]);
      }),
    );
}

export function smsLedgerCommand(context: CliContext): Command {
  return addCallSettings(new Command('ledger').argument('<account>'), context)
    .description("list the entries of an account's ledger, newest first")
    .option('--before <entry>', 'show entries before this one')
    .action((account: string, options: Options) =>
      run(context, options, async (client, print) => {
        const request = { account_id: account, before: textOption(options, 'before'), page_size: 100 };
        const data = await client.call('smsOperator.listLedger', request);
        const { ofLocal } = timeTexts(context, options);
        const rows = data.list.map((entry) => [
          ...[entry.entry_id, ofLocal(entry.create_time), entry.kind, String(entry.amount)],
          ...[entry.sendid || entry.reference || '-', entry.mobile || '-', entry.part === 0 ? '-' : String(entry.part)],
        ]);
        const heading = ['ENTRY', 'TIME', 'KIND', 'AMOUNT', 'SENDID OR REFERENCE', 'NUMBER', 'PART'];
        print(data, [`balance ${data.balance}`, ...formatTable([heading, ...rows])]);
      }),
    );
}

export function smsUnreadCommand(context: CliContext): Command {
  return addCallSettings(new Command('unread'), context)
    .description('list messages from carriers that could not be parsed, newest first')
    .option('--before <entry>', 'show entries before this one')
    .action((options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('smsOperator.listUnread', {
          before: textOption(options, 'before'),
          page_size: 100,
        });
        const { ofLocal } = timeTexts(context, options);
        const rows = data.list.map((entry) => [
          ...[
            entry.unread_id,
            ofLocal(entry.create_time),
            entry.connector || '-',
            entry.reason,
            entry.command,
            entry.octets,
          ],
        ]);
        print(data, formatTable([['ENTRY', 'TIME', 'CONNECTOR', 'WHY', 'COMMAND', 'OCTETS'], ...rows]));
      }),
    );
}

export function smsRouteCommand(context: CliContext): Command {
  const command = new Command('route').description('manage which connectors serve which numbers');
  const condition = 'the route still has this revision (0: it does not exist yet; printed by list --json)';
  addIfRevision(addCallSettings(command.command('set <connectors>'), context), condition)
    .description('set the connectors of a route: comma-separated names, preferred first')
    .option('--prefix <prefix>', 'prefix of the numbers, such as +852 (default: all other numbers)')
    .action((connectors: string, options: Options) =>
      run(context, options, async (client, print) => {
        const request = {
          prefix: textOption(options, 'prefix'),
          connectors: splitList(connectors),
          ...ifRevision(options),
        };
        print(await client.call('smsOperator.setRoute', request), ['route set']);
      }),
    );
  addIfRevision(addCallSettings(command.command('remove [prefix]'), context), condition)
    .description('remove a route; the next shorter prefix then applies')
    .option('--prefix <prefix>', "prefix of the numbers, such as +852; '': the default route")
    .action(async (argument: string | undefined, options: Options) => {
      const prefix = prefixOf(argument, textOption(options, 'prefix'));
      await run(context, options, async (client, print) => {
        print(await client.call('smsOperator.setRoute', { prefix, connectors: [], ...ifRevision(options) }), [
          'route removed',
        ]);
      });
    });
  addCallCommand(command, context, 'list', 'list routes').action((options: Options) =>
    run(context, options, async (client, print) => {
      const { list } = await client.call('smsOperator.listRoutes', {});
      const rows = list.map(({ prefix, connectors }) => [prefix || 'all', connectors.join(', ')]);
      print(list, formatTable([['PREFIX', 'CONNECTORS'], ...rows]));
    }),
  );
  return command;
}

/** Routes are removed by an argument or by the option of the other commands. */
function prefixOf(argument: string | undefined, option: string | undefined): string {
  const prefix = option ?? argument;
  if (prefix === undefined) throw new CliError("--prefix is required; '' is the default route");
  if (argument !== undefined && argument !== prefix)
    throw new CliError(`expected one prefix, not both ${argument} and ${prefix}`);
  return prefix;
}

function kindOption(): Option {
  return new Option('--kind <kind>', 'kind of messages').choices(['ordinary', 'advertising']).makeOptionMandatory();
}

function kindOf(options: Options): 'ordinary' | 'advertising' {
  return textOption(options, 'kind') === 'advertising' ? 'advertising' : 'ordinary';
}
