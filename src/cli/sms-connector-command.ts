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
  const command = new Command('connector').description('ways to carriers');
  command.addCommand(setCommand(context));
  for (const [verb, enabled] of [
    ['enable', '1'],
    ['disable', '0'],
  ] as const)
    addCallSettings(command.command(`${verb} <name>`), context)
      .description(`${verb} a connector that is there`)
      .action((name: string, options: Options) =>
        run(context, options, async (client, print) => {
          const { list } = await client.call('smsOperator.listConnectors', {});
          if (!list.some((connector) => connector.name === name)) throw new CliError(`there is no connector ${name}`);
          print(await client.call('smsOperator.setConnector', { name, enabled }), [`connector ${name} is ${verb}d`]);
        }),
      );
  addCallSettings(command.command('test <name>'), context)
    .description('open a session with its settings, and send nothing')
    .action((name: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('smsOperator.testConnector', { name });
        print(data, data.bound === '1' ? [data.detail || 'the carrier took the session'] : []);
        if (data.bound === '0') throw new CliError(`no session: ${data.detail}`);
      }),
    );
  addCallSettings(command.command('remove <name>'), context)
    .description('delete one that no route has and whose parts have all come to an end')
    .action((name: string, options: Options) =>
      run(context, options, async (client, print) => {
        print(await client.call('smsOperator.deleteConnector', { name }), [`connector ${name} is removed`]);
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
    .description('add a connector, or change what is given of one')
    .addOption(new Option('--kind <kind>', 'what it speaks').choices(['smpp', 'loopback']))
    .option('--rate <parts>', 'parts a second; 0: as fast as the carrier answers', wholeNumber);
  addIfRevision(command, 'the connector still has it, or 0: it is new; list --json prints it');
  for (const add of [addSessionOptions, addMessageOptions, addReceiptOptions]) add(command);
  return command.action((name: string, options: Options) =>
    run(context, options, async (client, print) => {
      const request = { name, ...connectorOf(options), ...ifRevision(options) };
      print(await client.call('smsOperator.setConnector', request), [`connector ${name} is set`]);
    }),
  );
}

function addSessionOptions(command: Command): void {
  command
    .option('--host <host>', 'of the carrier')
    .option('--port <port>', 'of the carrier', wholeNumber)
    .option('--system-id <id>', 'the name that the carrier knows')
    .option('--password-file <file>', 'a file with the password in its first line')
    .option('--system-type <type>', 'as the carrier asks for it')
    .addOption(
      new Option('--interface-version <version>', 'of SMPP; 33: without parameters').choices(['33', '34', '50']),
    )
    .addOption(new Option('--bind <how>', 'one session, or one for each direction').choices(['transceiver', 'pair']))
    .addOption(onOffOption('--tls <switch>', 'encrypt, and verify the carrier'))
    .option(
      '--tls-ca-file <file>',
      "certificate of the carrier's authority (PEM); an empty file: the public authorities",
    )
    .option('--tls-server-name <name>', "the name in the carrier's certificate; '': its host")
    .option('--window <parts>', 'parts that may be unanswered at once', wholeNumber)
    .option('--bind-seconds <seconds>', 'from connecting until the carrier has taken the session', wholeNumber)
    .option('--enquire-seconds <seconds>', 'of silence until an enquire_link is sent', wholeNumber)
    .option('--response-seconds <seconds>', 'to wait for the answer to a part', wholeNumber);
}

function addMessageOptions(command: Command): void {
  command
    .option('--sender <sender>', 'who messages are from')
    .option('--sender-type <ton,npi>', "of the sender's address, as 5,0; '': by its form")
    .option('--destination-type <ton,npi>', "of the number's; '': international, 1,1")
    .addOption(new Option('--concatenation <how>', 'how parts of a long message are told').choices(['udh', 'sar']))
    .addOption(onOffOption('--gsm7 <switch>', 'GSM 03.38 for texts that it has every letter of'));
}

function addReceiptOptions(command: Command): void {
  command
    .addOption(
      new Option('--registered-delivery <which>', 'receipts: none, of every end, of failures').choices(['0', '1', '2']),
    )
    .addOption(new Option('--receipt-ids <form>', 'how receipts write ids').choices(['auto', 'same', 'hex', 'decimal']))
    .option('--receipt-zone-minutes <minutes>', "how far the carrier's clock is ahead of UTC")
    .addOption(
      onOffOption(
        '--unmarked-receipts <switch>',
        'messages that read like receipts but are not marked as such count as receipts',
      ),
    )
    .option(
      '--status-words <words>',
      "what this carrier's status words mean, such as MK:0012=failed,MA:*=expired; '': the usual meanings",
    )
    .addOption(
      new Option(
        '--status-words-file <file>',
        'the same from a file, a line a word: word,state,group,text in Chinese,text in English; # begins a remark',
      ).conflicts('statusWords'),
    )
    .addOption(
      new Option(
        '--receipt-number <how>',
        'the number in a receipt has to be that of its message (check), or may differ (ignore)',
      ).choices(['check', 'ignore']),
    )
    .addOption(
      new Option(
        '--unknown-after <what>',
        'what to do with the price of a part that got neither an answer nor a receipt',
      ).choices(['charge', 'refund']),
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
