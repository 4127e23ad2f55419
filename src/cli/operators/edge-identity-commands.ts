/** Commands of `causeway edge` and `causeway fleet` for identities: tokens, enrolment, revocation, the authority. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { DataOf } from '#contract/operations.ts';
import { type CliContext, CliError } from '../command/context.ts';
import {
  addCallCommand,
  addSettings,
  addWhole,
  givenSettings,
  listOption,
  type Options,
  textOption,
} from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { printer, run } from '../command/run-operation.ts';
import { type TimeTexts, timeTexts } from '../command/times.ts';

/** Adds the commands that a machine or an operator needs for the identity of an edge. */
export function addIdentityCommands(edge: Command, context: CliContext): void {
  addTokenCommands(edge, context);
  addEnrol(edge, context);
  addIdentity(edge, context);
  addCallCommand(edge, context, 'add <edge>', 'add an edge whose certificate was issued by your own authority')
    .option('--group <group>', 'group of the edge (default: default)')
    .option('--label <name=value>', 'a label of the edge; may be given several times', addWhole)
    .action((id: string, options: Options) =>
      run(context, options, async (client, print) => {
        const labels = listOption(options, 'label');
        const request = {
          edge_id: id,
          group: textOption(options, 'group'),
          ...(labels.length > 0 && { labels: [...labels] }),
        };
        print(await client.call('fleetOperator.addEdge', request), [`edge ${id} added`]);
      }),
    );
  addCallCommand(edge, context, 'revoke <edge>', 'revoke an edge: its connections are cut, its certificates refused')
    .option('--reason <text>', 'why, for the record')
    .action((id: string, options: Options) =>
      run(context, options, async (client, print) => {
        const request = { edge_id: id, reason: textOption(options, 'reason') };
        print(await client.call('fleetOperator.revokeEdge', request), [`edge ${id} revoked`]);
      }),
    );
  addCallCommand(edge, context, 'accept <edge>', 'keep one of two copies of an edge')
    .requiredOption('--serial <serial>', 'serial number of the certificate of the copy to keep')
    .action((id: string, options: Options) =>
      run(context, options, async (client, print) => {
        const serial = textOption(options, 'serial') ?? '';
        const data = await client.call('fleetOperator.acceptEdge', { edge_id: id, serial });
        print(data, [`edge ${id} keeps the certificate ${serial}`]);
      }),
    );
}

/** Adds `causeway fleet ca`. */
export function addAuthorityCommands(fleet: Command, context: CliContext): void {
  const ca = fleet.command('ca').description("the fleet's certificate authority");
  addCallCommand(ca, context, 'show', 'show the id of the fleet and its certificate authority').action(
    (options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('fleetOperator.getAuthority', {});
        print(data, describeAuthorities(data, timeTexts(context, options)));
      }),
  );
  addCallCommand(ca, context, 'rotate', 'create the next certificate authority, which edges adopt when they renew')
    .option('--finish', 'withdraw the old one; refused while an edge or a token needs it')
    .action((options: Options) =>
      run(context, options, async (client, print) => {
        const step = options['finish'] === true ? 'finish' : 'begin';
        const data = await client.call('fleetOperator.rotateAuthority', { step });
        const done =
          step === 'finish'
            ? `the certificate authority ${data.key_id} is the only one now`
            : `the next certificate authority is ${data.key_id}; run this again with --finish when every edge has renewed, within a week`;
        print(data, [done]);
      }),
    );
}

function addTokenCommands(edge: Command, context: CliContext): void {
  const token = edge.command('token').description('tokens with which machines enrol as edges');
  addCallCommand(token, context, 'create', 'create a token, which is shown only once')
    .option('--group <group>', 'group of the edges (default: default)')
    .option('--edge-id <id>', 'the only id that it enrols (default: the machine chooses)')
    .option('--label <name=value>', 'a label of the edges; may be given several times', addWhole)
    .option(
      '--from <network>',
      'a network that it may be used from; may be given several times (default: any)',
      addWhole,
    )
    .option('--valid <time>', 'how long it is valid, such as 30m, 12h or 7d', parseSeconds, 3600)
    .option('--uses <number>', 'how many machines it enrols, at most 1000', '1')
    .option('--replace', 'with --edge-id: also if that edge is enrolled already; its certificates are revoked')
    .action((options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('fleetOperator.createToken', tokenRequest(options));
        print(data, [data.edge_token]); // alone, so that it can be sent to a file
      }),
    );
  addCallCommand(token, context, 'list', 'list tokens, without their values').action((options: Options) =>
    run(context, options, async (client, print) => {
      const { list } = await client.call('fleetOperator.listTokens', {});
      const times = timeTexts(context, options);
      print(
        list,
        formatTable([
          ['ID', 'GROUP', 'EDGE', 'USED', 'EXPIRES', 'REVOKED', 'FROM', 'LABELS'],
          ...list.map((row) => tokenCells(row, times)),
        ]),
      );
    }),
  );
  addCallCommand(token, context, 'revoke <token>', 'revoke a token; edges that were enrolled with it stay').action(
    (id: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('fleetOperator.revokeToken', { token_id: id });
        print(data, [`token ${id} revoked`]);
      }),
  );
}

function addEnrol(edge: Command, context: CliContext): void {
  addSettings(edge.command('enrol'), context, ['data-dir', 'control'])
    .description('make this machine an edge of the fleet; its service must be stopped')
    .option('--token-file <file>', 'file with a token of "causeway edge token create" (default: CAUSEWAY_ENROL_TOKEN)')
    .option('--edge-id <id>', 'the wanted id (default: that of the token, or one that control chooses)')
    .option('--json', 'print the answer as JSON')
    .action(async (options: Options) => {
      const file = textOption(options, 'tokenFile');
      const token = file === undefined ? undefined : readToken(file);
      const order = { token, edge: textOption(options, 'edgeId') };
      const enrolled = await context.enrolEdge(givenSettings(context, { ...options, tokenFile: undefined }), order);
      const { edge: id, group } = enrolled;
      printer(context, options)({ edge_id: id, group }, [`enrolled as edge ${id} of group ${group}`]);
    });
}

function addIdentity(edge: Command, context: CliContext): void {
  addSettings(edge.command('identity'), context, ['data-dir', 'control', 'fleet-ca', 'fleet-cert', 'fleet-key'])
    .description('show as which edge this machine is enrolled, and its certificate')
    .option('--json', 'print the answer as JSON')
    .action(async (options: Options) => {
      const found = await context.readEdgeIdentity(givenSettings(context, options));
      const seconds = (at: number | undefined) => Math.floor((at ?? 0) / 1000);
      const answer = {
        edge_id: found.edge,
        group: found.group,
        fleet: found.fleet,
        serial: found.serial,
        expires_at: seconds(found.notAfter),
        renews_at: seconds(found.renewAfter),
        controls: found.controls,
        is_copy: found.isCopy ? '1' : '0',
      };
      printer(context, options)(answer, describeIdentity(answer, timeTexts(context, options)));
    });
}

interface ShownIdentity {
  readonly edge_id: string;
  readonly group: string;
  readonly fleet: string;
  readonly serial: string;
  readonly expires_at: number;
  readonly renews_at: number;
  readonly controls: readonly string[];
  readonly is_copy: string;
}

function describeIdentity(shown: ShownIdentity, times: TimeTexts): string[] {
  return formatPairs([
    ['edge', shown.edge_id || 'none: the certificate names no edge'],
    ['group', shown.group],
    ['fleet', shown.fleet],
    ['serial', shown.serial],
    ['expires', times.ofSeconds(shown.expires_at)],
    ['renewed', shown.renews_at === 0 ? 'by you, before it expires' : `from ${times.ofSeconds(shown.renews_at)} on`],
    ['controls', shown.controls.join(', ')],
    ['copy', shown.is_copy === '1' ? 'yes, of another machine or data directory: enrol this one anew' : ''],
  ]);
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new CliError(`--token-file: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function tokenRequest(options: Options) {
  const [labels, addresses] = [listOption(options, 'label'), listOption(options, 'from')];
  return {
    group: textOption(options, 'group'),
    edge_id: textOption(options, 'edgeId'),
    ...(labels.length > 0 && { labels: [...labels] }),
    ...(addresses.length > 0 && { addresses: [...addresses] }),
    valid_seconds: Number(options['valid']),
    uses: textOption(options, 'uses'),
    replace: options['replace'] === true ? ('1' as const) : ('0' as const),
  };
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function parseSeconds(text: string): number {
  const [, digits, unit = 's'] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(digits) * (UNIT_SECONDS[unit] ?? Number.NaN);
  if (!(seconds >= 60 && seconds <= 7 * 86_400))
    throw new InvalidArgumentError('expected a time from 1m to 7d, such as 30m, 12h or 7d.');
  return seconds;
}

function tokenCells(row: DataOf<'fleetOperator.listTokens'>['list'][0], times: TimeTexts): string[] {
  const labels = Object.entries(row.labels).map(([name, value]) => `${name}=${value}`);
  return [
    row.token_id,
    row.group,
    row.edge_id || '-',
    `${row.used}/${row.uses}`,
    times.ofSeconds(row.expires_at),
    row.revoked_at === 0 ? 'no' : times.ofSeconds(row.revoked_at),
    row.addresses.join(',') || 'anywhere',
    labels.join(',') || '-',
  ];
}

function describeAuthorities(data: DataOf<'fleetOperator.getAuthority'>, times: TimeTexts): string[] {
  const { fleet, authorities } = data;
  if (authorities.length === 0)
    return [
      `fleet  ${fleet}`,
      'no certificate authority: the first edge token creates one, unless edges have certificates of your own (fleet-ca)',
    ];
  return authorities.flatMap(({ key_id, pin, certificate, expires_at }, index) => [
    ...formatPairs([
      ['fleet', fleet],
      ['authority', index === 0 ? key_id : `${key_id} (edges adopt it when they renew)`],
      ['pin', pin],
      ['expires', times.ofSeconds(expires_at)],
    ]),
    ...certificate.trimEnd().split('\n'),
  ]);
}
