/** `causeway sms find`, `message` and `split`: what became of messages, and what a text would cost. */
import { Command, Option } from 'commander';
import type { DataOf } from '#contract/operations.ts';
import { PART_STATES } from '#model/sms-part.ts';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { addCallSettings, addToList, givenSettings, listOption, type Options, textOption } from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { printer } from '../command/run-operation.ts';
import { addTimes, timesOf, timeTexts } from '../command/times.ts';

export function smsFindCommand(context: CliContext): Command {
  const command = addCallSettings(new Command('find'), context)
    .description('find messages, newest first')
    .option('--number <number>', 'show only messages to this number')
    .addOption(
      new Option(
        '--status <states>',
        'show only messages with these states; comma-separated, may be repeated',
      ).argParser(addToList),
    )
    .option('--app <app-key>', 'show only messages of this SMS service')
    .option('--cursor <cursor>', 'go on where an earlier search ended');
  return addTimes(command).action(async (options: Options) => {
    const client = connectCustomer(context, givenSettings(context, options));
    const { starttime: from, endtime: to } = timesOf(context, options);
    const data = await client.call('sms.find', {
      mobile: textOption(options, 'number'),
      status: statesOf(options),
      app_key: textOption(options, 'app'),
      from,
      to,
      cursor: textOption(options, 'cursor'),
      page_size: 100,
    });
    const { ofSeconds } = timeTexts(context, options);
    const rows = data.list.map(({ sendid, mobile, status, parts, price, created_at }) => [
      ...[sendid, mobile, status, String(parts), String(price), ofSeconds(created_at / 1000)],
    ]);
    const more =
      data.next === ''
        ? []
        : [`searched until ${ofSeconds(data.searched_until / 1000)}; go on with --cursor ${data.next}`];
    const heading = ['SENDID', 'NUMBER', 'STATUS', 'PARTS', 'PRICE', 'ACCEPTED'];
    printer(context, options)(data, [...formatTable([heading, ...rows]), ...more]);
  });
}

/** Throws `CliError` for a word that is no state. */
function statesOf(options: Options) {
  const words = listOption(options, 'status');
  const states = PART_STATES.filter((state) => words.includes(state));
  const unknown = words.find((word) => !states.some((state) => state === word));
  if (unknown !== undefined) throw new CliError(`--status: expected ${PART_STATES.join(', ')}, not ${unknown}`);
  return states.length === 0 ? undefined : states;
}

export function smsMessageCommand(context: CliContext): Command {
  return addCallSettings(new Command('message').argument('<sendid>').argument('<number>'), context)
    .description('show what happened to each part of a message')
    .action(async (sendid: string, mobile: string, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const data = await client.call('sms.getMessage', { sendid, mobile });
      const { ofSeconds } = timeTexts(context, options);
      printer(context, options)(data, describeMessage(data, ofSeconds));
    });
}

function describeMessage(data: DataOf<'sms.getMessage'>, ofSeconds: (seconds: number) => string): string[] {
  const rows = data.parts.flatMap(({ part, events }) =>
    events.map(({ at, kind, connector, carrier_id, error, text }) => [
      ...[String(part), ofSeconds(at / 1000), kind, connector || '-', carrier_id || '-', error || '-', text || '-'],
    ]),
  );
  return [
    ...formatPairs([
      ['app', data.app_key],
      ['number', data.mobile],
      ['status', data.status],
      ['price of a part', String(data.price)],
    ]),
    ...formatTable([['PART', 'TIME', 'EVENT', 'CONNECTOR', 'CARRIER ID', 'WHY', 'MEANING'], ...rows]),
  ];
}

export function smsSplitCommand(context: CliContext): Command {
  return addCallSettings(new Command('split').argument('<text>'), context)
    .description('show the parts and the price of a text without sending it')
    .requiredOption('--app <app-key>', 'SMS service that would send it')
    .addOption(
      new Option('--to <numbers>', 'mobile numbers it would be sent to; comma-separated, may be repeated').argParser(
        addToList,
      ),
    )
    .option('--advertising', 'as advertising')
    .action(async (text: string, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const numbers = listOption(options, 'to');
      const data = await client.call('sms.split', {
        app_key: textOption(options, 'app') ?? '',
        kind: options['advertising'] === true ? 'advertising' : 'ordinary',
        mobile: numbers.length === 0 ? undefined : numbers.join(','),
        content: encodeURIComponent(text.toWellFormed()),
      });
      const rows = data.parts.map(({ part, characters, text: own }) => [String(part), String(characters), own]);
      printer(context, options)(data, [
        ...formatTable([['PART', 'CHARACTERS', 'TEXT'], ...rows]),
        `price ${data.price}${data.currency === '' ? '' : ` (${data.currency}, ${data.currency_units} to one)`}`,
      ]);
    });
}
