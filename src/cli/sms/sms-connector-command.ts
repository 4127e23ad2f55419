/** `causeway sms connector`: ways to carriers, for the operator of this machine. */

import { Command, Option } from 'commander';
import type { CallOf } from '#contract/operations.ts';
import { CONNECTOR_CHOICES, CONNECTOR_FIELDS } from '#contract/sms/sms-connector-fields.ts';
import { type CliContext, CliError } from '../command/context.ts';
import {
  addCallCommand,
  addCallSettings,
  addIfRevision,
  ifRevision,
  type Options,
  onOffOption,
  parseWholeNumber,
  textOption,
} from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { readUserFile } from '../command/read-user-file.ts';
import { run } from '../command/run-operation.ts';
import { timeTexts } from '../command/times.ts';
import { readStatusWords } from './status-words-file.ts';

export function smsConnectorCommand(context: CliContext): Command {
  const command = new Command('connector').description('manage connections to carriers');
  command.addCommand(setCommand(context));
  for (const [verb, enabled] of [
    ['enable', '1'],
    ['disable', '0'],
  ] as const)
    addCallCommand(command, context, `${verb} <name>`, `${verb} an existing connector`).action(
      (name: string, options: Options) =>
        run(context, options, async (client, print) => {
          const { list } = await client.call('smsOperator.listConnectors', {});
          if (!list.some((connector) => connector.name === name)) throw new CliError(`unknown connector ${name}`);
          print(await client.call('smsOperator.setConnector', { name, enabled }), [`connector ${name} ${verb}d`]);
        }),
    );
  addCallCommand(
    command,
    context,
    'test <name>',
    'test the settings of a connector: bind to the carrier without sending anything',
  ).action((name: string, options: Options) =>
    run(context, options, async (client, print) => {
      const data = await client.call('smsOperator.testConnector', { name });
      print(data, data.bound === '1' ? [data.detail || 'the carrier accepted the session'] : []);
      if (data.bound === '0') throw new CliError(`cannot open a session: ${data.detail}`);
    }),
  );
  addCallCommand(
    command,
    context,
    'remove <name>',
    'delete a connector that no route uses and that has no pending parts',
  ).action((name: string, options: Options) =>
    run(context, options, async (client, print) => {
      print(await client.call('smsOperator.deleteConnector', { name }), [`connector ${name} removed`]);
    }),
  );
  addCallCommand(command, context, 'states', 'show sessions, rates, queues and errors of connectors').action(
    (options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('smsOperator.listStates', {});
        const { ofSeconds } = timeTexts(context, options);
        const rows = data.list.map(({ name, state, misconfigured, sessions, errors, ...of }) => [
          ...[name, misconfigured === '' ? state : `rests (${misconfigured})`],
          ofSeconds(Math.max(0, ...sessions.map(({ sends_since: at }) => at)) / 1000),
          ...[withLimit(of.rate, of.rate_limit), withLimit(of.in_flight, of.window), String(of.queued)],
          errors.map(({ code, count }) => `${code} (${count})`).join(', ') || '-',
        ]);
        const heading = ['NAME', 'STATE', 'SENDS SINCE', 'PARTS/S', 'IN FLIGHT', 'QUEUED', 'ERRORS OF THE LAST HOUR'];
        print(data, formatTable([heading, ...rows]));
      }),
  );
  addCallCommand(command, context, 'list', 'list connectors').action((options: Options) =>
    run(context, options, async (client, print) => {
      const { list } = await client.call('smsOperator.listConnectors', {});
      const rows = list.map(({ name, kind, enabled, host, port }) => [
        ...[name, kind, enabled === '1' ? 'on' : 'off', host === undefined ? '-' : `${host}:${port}`],
      ]);
      print(list, formatTable([['NAME', 'KIND', 'STATUS', 'CARRIER'], ...rows]));
    }),
  );
  return command;
}

function withLimit(value: number, limit: number): string {
  return limit === 0 ? String(value) : `${value}/${limit}`;
}

function setCommand(context: CliContext): Command {
  const command = addCallSettings(new Command('set').argument('<name>'), context)
    .description('add a connector, or change the given settings of one')
    .addOption(choice('kind', '--kind <kind>', 'protocol of the connector'))
    .option('--rate <parts>', 'maximum parts per second; 0: as fast as the carrier answers', parseWholeNumber);
  addIfRevision(command, 'the connector still has this revision (0: it does not exist yet; printed by list --json)');
  for (const add of [addSessionOptions, addMessageOptions, addReceiptOptions, addGatewayOptions]) add(command);
  return command.action((name: string, options: Options) =>
    run(context, options, async (client, print) => {
      const request = { name, ...connectorOf(options), ...ifRevision(options) };
      print(await client.call('smsOperator.setConnector', request), [`connector ${name} saved`]);
    }),
  );
}

function addSessionOptions(command: Command): void {
  command
    .option('--host <host>', 'host of the carrier')
    .option('--port <port>', 'port of the carrier', parseWholeNumber)
    .option('--system-id <id>', 'system_id to bind with')
    .option('--password-file <file>', 'file whose first line is the password')
    .option('--system-type <type>', 'system_type to bind with, if the carrier requires one')
    .addOption(
      choice('interface_version', '--interface-version <version>', 'SMPP version; 33: without optional parameters'),
    )
    .addOption(choice('bind', '--bind <how>', 'transceiver: one session; pair: one for each direction'))
    .addOption(onOffOption('--tls <switch>', "use TLS and verify the carrier's certificate"))
    .option(
      '--tls-ca-file <file>',
      'CA certificate to verify the carrier with (PEM); an empty file: the public authorities',
    )
    .option('--tls-server-name <name>', "name to expect in the carrier's certificate; '': the host")
    .option(
      '--window <parts>',
      'window: maximum parts in flight (CMPP, SMGP, SGIP: on each connection)',
      parseWholeNumber,
    )
    .option(
      '--sessions <n>',
      'sessions that the carrier allows at a time, each at another control; they share the rate, and with SMPP the window',
      parseWholeNumber,
    )
    .option('--bind-seconds <seconds>', 'timeout for connecting and binding', parseWholeNumber)
    .option('--enquire-seconds <seconds>', 'idle time before an enquire_link is sent', parseWholeNumber)
    .option('--response-seconds <seconds>', 'timeout for the response to a part', parseWholeNumber);
}

function addMessageOptions(command: Command): void {
  command
    .option('--sender <sender>', 'sender of messages')
    .option('--sender-type <ton,npi>', "TON and NPI of the sender, such as 5,0; '': derived from its form")
    .option('--destination-type <ton,npi>', "TON and NPI of the destination; '': international, 1,1")
    .addOption(choice('concatenation', '--concatenation <how>', 'how the parts of a long message are marked'))
    .addOption(onOffOption('--gsm7 <switch>', 'use the GSM 03.38 alphabet for texts it can represent'));
}

function addReceiptOptions(command: Command): void {
  command
    .addOption(
      choice(
        'registered_delivery',
        '--registered-delivery <which>',
        'receipts to request: 0 none, 1 for every final state, 2 for failures',
      ),
    )
    .addOption(choice('receipt_ids', '--receipt-ids <form>', 'format of message ids in receipts'))
    .option('--receipt-zone-minutes <minutes>', "offset of the carrier's time zone from UTC")
    .addOption(
      onOffOption(
        '--unmarked-receipts <switch>',
        'treat messages that look like receipts but are not marked as such as receipts',
      ),
    )
    .option(
      '--status-words <words>',
      "meanings of this carrier's status words, such as MK:0012=failed,MA:*=expired; '': the usual meanings",
    )
    .addOption(
      new Option(
        '--status-words-file <file>',
        'read status words from a file, one per line: word,state,group,text in Chinese,text in English; lines beginning with # are comments',
      ).conflicts('statusWords'),
    )
    .addOption(
      choice(
        'receipt_number',
        '--receipt-number <how>',
        'whether the number in a receipt must match that of its message (check) or may differ (ignore)',
      ),
    )
    .addOption(
      choice(
        'unknown_after',
        '--unknown-after <what>',
        'what to do with the price of a part without a response or receipt',
      ),
    );
}

/** Adds the options of CMPP, SMGP and SGIP. */
function addGatewayOptions(command: Command): void {
  command
    .option('--account <id>', 'CMPP: SP_Id; SMGP: ClientID; SGIP: Login_Name')
    .option('--corp-id <code>', "code of the enterprise; '': the account")
    .option('--service-id <code>', "code of the service, if the carrier requires one; '': none")
    .option('--fee-type <type>', 'FeeType')
    .option('--fee-code <code>', 'FeeCode')
    .option('--fee-user-type <type>', 'CMPP: Fee_UserType, who pays', parseWholeNumber)
    .addOption(choice('receipts', '--receipts <which>', 'receipts to request'))
    .addOption(choice('coding', '--coding <how>', 'alphabet of texts; auto: GB18030 where each part of a message fits'))
    .addOption(choice('udhi_value', '--udhi-value <value>', 'TP_udhi of the parts of a long message'))
    .addOption(choice('number_form', '--number-form <form>', 'form of mainland numbers'))
    .option('--results <results>', "meanings of this gateway's results, such as 23=throttled; '': by the protocol")
    .addOption(choice('again', '--again <how>', 'what to answer to a delivery that cannot be stored'))
    .option('--connections <n>', 'connections of each session', parseWholeNumber)
    .addOption(choice('pk', '--pk <how>', 'CMPP: Pk_total and Pk_number as they are (parts), or always 1 (one)'))
    .addOption(choice('account_padding', '--account-padding <octets>', 'CMPP: fill the account up before the digest'))
    .option('--node <number>', 'SGIP: node number, such as 3010012345', parseWholeNumber)
    .option('--listen <address:port>', 'SGIP: where the gateway reaches this service')
    .option('--allow <networks>', 'SGIP: addresses and networks that the gateway connects from')
    .option('--gateway-account <name>', "SGIP: name that the gateway gives; '': the account");
}

function choice(field: keyof typeof CONNECTOR_CHOICES, flags: string, description: string): Option {
  return new Option(flags, description).choices(CONNECTOR_CHOICES[field]);
}

type ConnectorRequest = Omit<CallOf<'smsOperator.setConnector'>, 'name' | 'if_revision'>;

/** Options are called like the fields, but for those that name a file. */
function connectorOf(options: Options): ConnectorRequest {
  const named = Object.keys(CONNECTOR_FIELDS).map((field) => [field, wireValueOf(options[optionOf(field)])]);
  const [password, authority] = [textOption(options, 'passwordFile'), textOption(options, 'tlsCaFile')];
  const table = textOption(options, 'statusWordsFile');
  return {
    // `as`: options are texts and numbers, and the interface says which of them are wrong.
    ...(Object.fromEntries(named) as ConnectorRequest),
    // Never an argument: those are shown to everybody on the machine.
    password: password === undefined ? undefined : readUserFile(password).split('\n', 1)[0]?.trimEnd(),
    tls_ca: authority === undefined ? undefined : readUserFile(authority).trim(),
    ...(table !== undefined && { status_words: readStatusWords(readUserFile(table), table) }),
  };
}

/** `tls_ca` → `tlsCa` */
function optionOf(field: string): string {
  return field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function wireValueOf(given: unknown): unknown {
  return given === 'on' ? '1' : given === 'off' ? '0' : given;
}
