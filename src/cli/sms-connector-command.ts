/** `causeway sms connector`: ways to carriers, for the operator of this machine. */
import { Command, Option } from 'commander';
import type { CallOf } from '#contract/operations.ts';
import { run } from './account-commands.ts';
import { type CliContext, CliError } from './context.ts';
import {
  addCallSettings,
  addIfRevision,
  ifRevision,
  type Options,
  onOffOption,
  textOption,
  wholeNumber,
} from './options.ts';
import { formatTable } from './output.ts';
import { readTextFile } from './setting-commands.ts';
import { readStatusWords } from './status-words-file.ts';

export function smsConnectorCommand(context: CliContext): Command {
  const command = new Command('connector').description('manage connections to carriers');
  command.addCommand(setCommand(context));
  for (const [verb, enabled] of [
    ['enable', '1'],
    ['disable', '0'],
  ] as const)
    addCallSettings(command.command(`${verb} <name>`), context)
      .description(`${verb} an existing connector`)
      .action((name: string, options: Options) =>
        run(context, options, async (client, print) => {
          const { list } = await client.call('smsOperator.listConnectors', {});
          if (!list.some((connector) => connector.name === name)) throw new CliError(`unknown connector ${name}`);
          print(await client.call('smsOperator.setConnector', { name, enabled }), [`connector ${name} ${verb}d`]);
        }),
      );
  addCallSettings(command.command('test <name>'), context)
    .description('test the settings of a connector: bind to the carrier without sending anything')
    .action((name: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('smsOperator.testConnector', { name });
        print(data, data.bound === '1' ? [data.detail || 'the carrier accepted the session'] : []);
        if (data.bound === '0') throw new CliError(`cannot open a session: ${data.detail}`);
      }),
    );
  addCallSettings(command.command('remove <name>'), context)
    .description('delete a connector that no route uses and that has no pending parts')
    .action((name: string, options: Options) =>
      run(context, options, async (client, print) => {
        print(await client.call('smsOperator.deleteConnector', { name }), [`connector ${name} removed`]);
      }),
    );
  addCallSettings(command.command('list'), context)
    .description('list connectors')
    .action((options: Options) =>
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

function setCommand(context: CliContext): Command {
  const command = addCallSettings(new Command('set').argument('<name>'), context)
    .description('add a connector, or change the given settings of one')
    .addOption(new Option('--kind <kind>', 'protocol of the connector').choices(['smpp', 'loopback']))
    .option('--rate <parts>', 'maximum parts per second; 0: as fast as the carrier answers', wholeNumber);
  addIfRevision(command, 'the connector still has this revision (0: it does not exist yet; printed by list --json)');
  for (const add of [addSessionOptions, addMessageOptions, addReceiptOptions]) add(command);
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
    .option('--port <port>', 'port of the carrier', wholeNumber)
    .option('--system-id <id>', 'system_id to bind with')
    .option('--password-file <file>', 'file whose first line is the password')
    .option('--system-type <type>', 'system_type to bind with, if the carrier requires one')
    .addOption(
      new Option('--interface-version <version>', 'SMPP version; 33: without optional parameters').choices([
        '33',
        '34',
        '50',
      ]),
    )
    .addOption(
      new Option('--bind <how>', 'transceiver: one session; pair: one for each direction').choices([
        'transceiver',
        'pair',
      ]),
    )
    .addOption(onOffOption('--tls <switch>', "use TLS and verify the carrier's certificate"))
    .option(
      '--tls-ca-file <file>',
      'CA certificate to verify the carrier with (PEM); an empty file: the public authorities',
    )
    .option('--tls-server-name <name>', "name to expect in the carrier's certificate; '': the host")
    .option('--window <parts>', 'window: maximum parts in flight', wholeNumber)
    .option('--bind-seconds <seconds>', 'timeout for connecting and binding', wholeNumber)
    .option('--enquire-seconds <seconds>', 'idle time before an enquire_link is sent', wholeNumber)
    .option('--response-seconds <seconds>', 'timeout for the response to a part', wholeNumber);
}

function addMessageOptions(command: Command): void {
  command
    .option('--sender <sender>', 'sender of messages')
    .option('--sender-type <ton,npi>', "TON and NPI of the sender, such as 5,0; '': derived from its form")
    .option('--destination-type <ton,npi>', "TON and NPI of the destination; '': international, 1,1")
    .addOption(
      new Option('--concatenation <how>', 'how the parts of a long message are marked').choices(['udh', 'sar']),
    )
    .addOption(onOffOption('--gsm7 <switch>', 'use the GSM 03.38 alphabet for texts it can represent'));
}

function addReceiptOptions(command: Command): void {
  command
    .addOption(
      new Option(
        '--registered-delivery <which>',
        'receipts to request: 0 none, 1 for every final state, 2 for failures',
      ).choices(['0', '1', '2']),
    )
    .addOption(
      new Option('--receipt-ids <form>', 'format of message ids in receipts').choices([
        'auto',
        'same',
        'hex',
        'decimal',
      ]),
    )
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
      new Option(
        '--receipt-number <how>',
        'whether the number in a receipt must match that of its message (check) or may differ (ignore)',
      ).choices(['check', 'ignore']),
    )
    .addOption(
      new Option('--unknown-after <what>', 'what to do with the price of a part without a response or receipt').choices(
        ['charge', 'refund'],
      ),
    );
}

type ConnectorRequest = Omit<CallOf<'smsOperator.setConnector'>, 'name' | 'if_revision'>;

function connectorOf(options: Options): ConnectorRequest {
  const [password, authority] = [textOption(options, 'passwordFile'), textOption(options, 'tlsCaFile')];
  const table = textOption(options, 'statusWordsFile');
  const given = {
    host: options['host'],
    port: options['port'],
    system_id: options['systemId'],
    system_type: options['systemType'],
    interface_version: options['interfaceVersion'],
    bind: options['bind'],
    tls: switchOf(options, 'tls'),
    tls_ca: authority === undefined ? undefined : readTextFile(authority).trim(),
    tls_server_name: options['tlsServerName'],
    window: options['window'],
    bind_seconds: options['bindSeconds'],
    enquire_seconds: options['enquireSeconds'],
    response_seconds: options['responseSeconds'],
    sender: options['sender'],
    sender_type: options['senderType'],
    destination_type: options['destinationType'],
    concatenation: options['concatenation'],
    gsm7: switchOf(options, 'gsm7'),
    registered_delivery: options['registeredDelivery'],
    receipt_ids: options['receiptIds'],
    receipt_zone_minutes: options['receiptZoneMinutes'],
    unmarked_receipts: switchOf(options, 'unmarkedReceipts'),
    status_words: table === undefined ? options['statusWords'] : readStatusWords(readTextFile(table), table),
    receipt_number: options['receiptNumber'],
    unknown_after: options['unknownAfter'],
    rate: options['rate'],
    kind: options['kind'],
    // Never an argument: those are shown to everybody on the machine.
    password: password === undefined ? undefined : readTextFile(password).split('\n', 1)[0]?.trimEnd(),
  };
  // `as`: options are texts and numbers, and the interface says which of them are wrong.
  return given as ConnectorRequest;
}

function switchOf(options: Options, name: string): '0' | '1' | undefined {
  const text = textOption(options, name);
  return text === undefined ? undefined : text === 'on' ? '1' : '0';
}
