/** `causeway sms`: what a customer sends, and what becomes of it. What operators do for it is in `sms-operator-commands.ts`. */
import { Command, Option } from 'commander';
import type { Client } from '#client/transport.ts';
import type { DataOf } from '#contract/operations.ts';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import {
  addCallCommand,
  addCallSettings,
  addToList,
  givenSettings,
  listOption,
  type Options,
  textOption,
} from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { printer, run } from '../command/run-operation.ts';
import { type TimeTexts, timeTexts } from '../command/times.ts';
import { smsConnectorCommand } from './sms-connector-command.ts';
import {
  smsAppCommand,
  smsLedgerCommand,
  smsPriceCommand,
  smsRechargeCommand,
  smsRouteCommand,
  smsUnreadCommand,
} from './sms-operator-commands.ts';
import { smsFindCommand, smsMessageCommand, smsSplitCommand } from './sms-search-commands.ts';

export function smsCommand(context: CliContext): Command {
  const command = new Command('sms').description('send and manage SMS messages');
  for (const own of [
    smsAppCommand(context),
    sendCommand(context),
    statusCommand(context),
    listCommand(context),
    smsFindCommand(context),
    smsMessageCommand(context),
    smsSplitCommand(context),
    balanceCommand(context),
    repliesCommand(context),
    optOutCommand(context),
    smsPriceCommand(context),
    smsRechargeCommand(context),
    smsLedgerCommand(context),
    smsConnectorCommand(context),
    smsRouteCommand(context),
    smsUnreadCommand(context),
  ])
    command.addCommand(own);
  return command;
}

function sendCommand(context: CliContext): Command {
  return addCallSettings(new Command('send').argument('<text>'), context)
    .description('send a message with the given text')
    .requiredOption('--app <app-key>', 'SMS service that sends the message')
    .addOption(
      new Option('--to <numbers>', 'mobile numbers to send to; comma-separated, may be repeated')
        .argParser(addToList)
        .makeOptionMandatory(),
    )
    .option('--advertising', 'send as advertising: only within its hours, not to numbers that opted out')
    .option('--notification', 'send as an ordinary message of type 2 (notification)')
    .action(async (text: string, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const common = {
        app_key: textOption(options, 'app') ?? '',
        mobile: listOption(options, 'to').join(','),
        content: encodeURIComponent(text.toWellFormed()),
        time: String(Date.now()),
      };
      const data =
        options['advertising'] === true
          ? await client.call('sms.advertising', common)
          : await client.call('sms.ordinary', { ...common, smsType: options['notification'] === true ? 2 : 1 });
      printer(context, options)(data, [`sendid ${data.sendid}`]);
    });
}

function statusCommand(context: CliContext): Command {
  return addCallSettings(new Command('status').argument('<sendid>'), context)
    .description('show the status of a request, by number and part')
    .action(async (sendid: string, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const data = await client.call('sms.getStatus', { sendid });
      printer(context, options)(data, describeStatus(data, timeTexts(context, options)));
    });
}

function describeStatus(data: DataOf<'sms.getStatus'>, { ofLocal }: TimeTexts): string[] {
  const rows = data.numbers.flatMap(({ mobile, parts }) =>
    parts.map((part) => [
      mobile,
      String(part.part),
      part.status,
      ofLocal(part.submit_time),
      ofLocal(part.done_time),
      part.error,
      part.last_word,
      part.text || part.group,
    ]),
  );
  return [
    ...formatPairs([
      ['sendid', data.sendid],
      ['app', data.app_key],
      ['kind', data.kind],
      ['accepted', ofLocal(data.create_time)],
    ]),
    ...formatTable([
      ['NUMBER', 'PART', 'STATUS', 'TRIED', 'DONE', 'WHY', 'CARRIER STATUS', 'MEANING'],
      ...rows.map((row) => row.map((cell) => cell || '-')),
    ]),
  ];
}

function listCommand(context: CliContext): Command {
  return addCallSettings(new Command('list'), context)
    .description('list requests, newest first')
    .option('--app <app-key>', 'show only requests of this SMS service')
    .option('--before <sendid>', 'show requests before this one')
    .action(async (options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const data = await client.call('sms.list', pageOf(options));
      const { ofLocal } = timeTexts(context, options);
      const rows = data.list.map((found) => {
        const { sendid, kind, create_time, numbers, parts, price } = found;
        return [sendid, kind, ofLocal(create_time), String(numbers), String(parts), String(price)];
      });
      printer(context, options)(
        data,
        formatTable([['SENDID', 'KIND', 'ACCEPTED', 'NUMBERS', 'PARTS', 'PRICE'], ...rows]),
      );
    });
}

function balanceCommand(context: CliContext): Command {
  return addCallSettings(new Command('balance'), context)
    .description('show the balance of the account')
    .action(async (options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const data = await client.call('sms.balance', {});
      printer(context, options)(data, [`balance ${data.balance}`]);
    });
}

function repliesCommand(context: CliContext): Command {
  return addCallSettings(new Command('replies'), context)
    .description('list replies from phones, newest first')
    .option('--app <app-key>', 'show only replies to this SMS service')
    .option('--before <reply>', 'show replies before this one')
    .action(async (options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const data = await client.call('sms.listReplies', pageOf(options));
      const { ofLocal } = timeTexts(context, options);
      const rows = data.list.map(({ reply_id, create_time, mobile, part, parts, text }) => [
        ...[reply_id, ofLocal(create_time), mobile, parts === 1 ? '-' : `${part}/${parts}`, JSON.stringify(text)],
      ]);
      printer(context, options)(data, formatTable([['REPLY', 'TIME', 'NUMBER', 'PART', 'TEXT'], ...rows]));
    });
}

function pageOf(options: Options) {
  return { app_key: textOption(options, 'app'), before: textOption(options, 'before') };
}

/** Opt-outs of the token's account or, for the operator, of all accounts. */
function optOutCommand(context: CliContext): Command {
  const command = new Command('opt-out').description('manage numbers that opted out of advertising');
  const everybody = () => new Option('--everybody', 'apply to the advertising of all accounts (operators only)');
  addCallCommand(command, context, 'list', 'list the numbers')
    .option('--after <number>', 'show numbers after this one')
    .addOption(everybody())
    .action((options: Options) => {
      const page = { after: textOption(options, 'after'), page_size: 100 };
      return callFor(context, options, async (client, isOfAll, print) => {
        const data = await (isOfAll
          ? client.call('smsOperator.getOptOuts', page)
          : client.call('sms.getOptOuts', page));
        const { ofLocal } = timeTexts(context, options);
        const rows = data.list.map(({ mobile, create_time }) => [mobile, ofLocal(create_time)]);
        print(data, formatTable([['NUMBER', 'SINCE'], ...rows]));
      });
    });
  for (const [name, operation, opted_out, description] of [
    ['add', 'sms.addOptOuts', '1', 'stop sending advertising to the numbers'],
    ['remove', 'sms.removeOptOuts', '0', 'allow advertising to the numbers again'],
  ] as const)
    addCallCommand(command, context, `${name} <number...>`, description)
      .addOption(everybody())
      .action((mobile: string[], options: Options) =>
        callFor(context, options, async (client, isOfAll, print) => {
          const data = isOfAll
            ? await client.call('smsOperator.setOptOuts', { mobile, opted_out })
            : await client.call(operation, { mobile });
          if (!data) throw new CliError('none of these numbers had opted out');
          print(data, [mobile.length === 1 ? '1 number' : `${mobile.length} numbers`]);
        }),
      );
  return command;
}

/** Calls as the operator of this machine with `--everybody`, else with a customer's token. */
async function callFor(
  context: CliContext,
  options: Options,
  work: (client: Client, isOfAll: boolean, print: ReturnType<typeof printer>) => Promise<void>,
): Promise<void> {
  if (options['everybody'] === true) await run(context, options, (client, print) => work(client, true, print));
  else await work(connectCustomer(context, givenSettings(context, options)), false, printer(context, options));
}
