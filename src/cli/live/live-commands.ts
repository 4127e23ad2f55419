/** `causeway live`: what is on air, who may publish, and the keys of domains. A stream is named `app/name`. */
import { Command, Option } from 'commander';
import type { Client } from '#client/transport.ts';
import { describeError } from '#contract/errors/service-error.ts';
import { VIEWER_GRAINS } from '#contract/live/live-operations.ts';
import { readAllPages } from '../command/all-pages.ts';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { findAnyDomainId, findDomainName } from '../command/find-domain.ts';
import { addCallCommand, addCallSettings, givenSettings, type Options, textOption } from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { printer, run } from '../command/run-operation.ts';
import { addTimes, expectFuture, momentOf, timesOf, timeTexts } from '../command/times.ts';
import { addRecordings } from './live-recording-commands.ts';
import {
  describeSilence,
  describeStream,
  isStale,
  STREAM_HEADING,
  type StreamRow,
  staleNotes,
  streamCells,
} from './live-tables.ts';
import { splitStream } from './live-words.ts';

const ON_AIR = { status: 'ONGOING' } as const;
const STATES = { ready: 'READY', ongoing: 'ONGOING', paused: 'PAUSED' } as const;

export function liveCommand(context: CliContext): Command {
  const command = new Command('live').description(
    'live streams; viewers, push-info, record, recordings, download and delete-recording are for customers, the others for operators',
  );
  addList(command, context);
  addMarks(command, context);
  addKeys(command, context);
  addCustomers(command, context);
  addRecordings(command, context);
  return command;
}

function addList(command: Command, context: CliContext): void {
  addCallCommand(command, context, 'list', 'list the live streams of all domains, those on air first')
    .option('--account <account>', 'show only streams of this account')
    .option('--domain <domain>', 'show only streams of this domain (name or id)')
    .addOption(new Option('--status <status>', 'show only streams with this status').choices(Object.keys(STATES)))
    .action((options: Options) =>
      run(context, options, async (client, print) => {
        const state = textOption(options, 'status');
        const account_id = textOption(options, 'account');
        const domain = textOption(options, 'domain');
        const filter = {
          account_id,
          domain_id: domain === undefined ? undefined : await findAnyDomainId(client, domain, account_id),
          ...(state !== undefined && { status: pickState(state) }),
        };
        const rows = await readAllPages((page) => client.call('liveOperator.list', { ...filter, ...page }));
        const times = timeTexts(context, options);
        const table = formatTable([STREAM_HEADING, ...rows.map((row) => streamCells(row, times))]);
        print(rows, [...table, ...staleNotes(rows)]);
      }),
    );
  addCallCommand(
    command,
    context,
    'show <account> <domain> <stream>',
    'show a live stream with all its details',
  ).action((account: string, domain: string, stream: string, options: Options) =>
    run(context, options, async (client, print) => {
      const asked = await findStream(client, account, domain, stream);
      const { app_name: app, stream_name } = asked;
      const found = await readStream(client, asked);
      if (found === undefined)
        throw new CliError(describeError('liveStreamNotFound', { app, stream: stream_name }, 'en'));
      const pairs = formatPairs(describeStream(found, timeTexts(context, options)));
      print(found, [...pairs, ...staleNotes([found])]);
    }),
  );
  addTimes(addCallSettings(command.command('history <account> <domain> [stream]'), context))
    .description('list the broadcasts of a domain, newest first')
    .action((account: string, domain: string, stream: string | undefined, options: Options) =>
      run(context, options, async (client, print) => {
        const of = { account_id: account, domain_id: await findAnyDomainId(client, domain, account) };
        const which = stream === undefined ? {} : splitStream(stream);
        const asked = { ...of, ...which, ...timesOf(context, options) };
        const rows = await readAllPages((page) => client.call('liveOperator.history', { ...asked, ...page }));
        const { ofSeconds } = timeTexts(context, options);
        const cells = rows.map((row) => [
          ...[`${row.app_name}/${row.stream_name}`, ofSeconds(row.timestamp), ofSeconds(row.endtime)],
          ...[row.end_reason || 'on air', row.source, row.address, String(row.peak_viewers), row.edge],
        ]);
        const heading = ['STREAM', 'BEGAN', 'ENDED', 'WHY', 'SOURCE', 'ADDRESS', 'PEAK', 'EDGE'];
        const onAir = rows.some(({ end_reason }) => end_reason === '')
          ? await readAllPages((page) => client.call('liveOperator.list', { ...of, ...which, ...ON_AIR, ...page }))
          : [];
        print(rows, [...formatTable([heading, ...cells]), ...staleNotes(onAir)]);
      }),
    );
}

function addMarks(command: Command, context: CliContext): void {
  const describeMark = (name: string, description: string) =>
    addCallCommand(command, context, `${name} <account> <domain> <stream>`, description);
  describeMark('forbid', 'cut a stream and refuse its publishers and viewers until it is resumed')
    .option(
      '--until <time>',
      'resume it automatically: a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z',
    )
    .action((account: string, domain: string, stream: string, options: Options) =>
      run(context, options, async (client, print) => {
        const resume_at = momentOf(context, options, 'until');
        const stored = await findStream(client, account, domain, stream);
        const before = await readStream(client, stored);
        const time = timeTexts(context, options).ofSeconds(resume_at ?? 0);
        const call = client.call('liveOperator.forbid', { ...stored, resume_at });
        const data = await expectFuture('--until', time, call);
        const until = resume_at === undefined ? '' : ` until ${time}`;
        print(data, [`${stream} forbidden${until}`, ...pendingNotes(before, 'it is cut')]);
      }),
    );
  describeMark('resume', 'allow a forbidden stream again').action(
    (account: string, domain: string, stream: string, options: Options) =>
      run(context, options, async (client, print) => {
        const asked = await findStream(client, account, domain, stream);
        print(await client.call('liveOperator.resume', asked), [`${stream} resumed`]);
      }),
  );
  describeMark('kick', 'disconnect the publisher of a stream; it may reconnect').action(
    (account: string, domain: string, stream: string, options: Options) =>
      run(context, options, async (client, print) => {
        const asked = await findStream(client, account, domain, stream);
        const data = await client.call('liveOperator.kick', asked);
        const pending = pendingNotes(await readStream(client, asked), 'its publisher is disconnected');
        print(data, pending.length > 0 ? pending : [`publisher of ${stream} disconnected`]);
      }),
  );
}

/** Nothing, unless the stream is on air on an edge that does not report: an order is carried out there later, if at all. */
function pendingNotes(row: StreamRow | undefined, effect: string): string[] {
  if (row === undefined || !isStale(row)) return [];
  const { app_name, stream_name } = row;
  return [
    `note: ${describeSilence(row)}. If ${app_name}/${stream_name} is still on air there, ${effect} as soon as that process reconnects.`,
  ];
}

function addKeys(command: Command, context: CliContext): void {
  const kinds = ['publish', 'play'] as const;
  addCallCommand(
    command,
    context,
    'keys <account> <domain>',
    'show the keys of a domain, or change its publish or play keys',
  )
    .addOption(
      new Option('--rotate <kind>', 'create a new primary key; the old one becomes the secondary').choices(kinds),
    )
    .option('--key <key>', 'with --rotate: use this key, 16 to 64 letters and digits')
    .addOption(new Option('--drop-secondary <kind>', 'remove the secondary key').choices(kinds))
    .addOption(new Option('--clear <kind>', 'remove both keys').choices(kinds))
    .action((account: string, domain: string, options: Options) =>
      run(context, options, async (client, print) => {
        const of = { account_id: account, domain_id: await findAnyDomainId(client, domain, account) };
        const change = keyChangeOf(options);
        const data =
          change === undefined
            ? await client.call('liveOperator.getKeys', of)
            : await client.call('liveOperator.setKeys', { ...of, ...change });
        const row = (kind: (typeof kinds)[number]) => [kind, data[kind][0] ?? '-', data[kind][1] ?? '-'];
        print(data, formatTable([['KIND', 'PRIMARY', 'SECONDARY'], row('publish'), row('play')]));
      }),
    );
}

function keyChangeOf(options: Options) {
  const changes = KEY_CHANGES.flatMap(([option, action]) => {
    const kind = textOption(options, option);
    return kind === 'publish' || kind === 'play' ? [{ kind, action }] : [];
  });
  const key = textOption(options, 'key');
  if (changes.length > 1) throw new CliError('--rotate, --drop-secondary and --clear cannot be combined');
  const [change] = changes;
  if (key !== undefined && change?.action !== 'rotate') throw new CliError('--key requires --rotate');
  return change && { ...change, key };
}

const KEY_CHANGES = [
  ['rotate', 'rotate'],
  ['dropSecondary', 'drop_secondary'],
  ['clear', 'clear'],
] as const;

/** What customers ask with their own token. */
function addCustomers(command: Command, context: CliContext): void {
  addTimes(addCallSettings(command.command('viewers <domain> [stream]'), context))
    .description('show current and past viewers of a domain of the account, or of one stream')
    .addOption(new Option('--interval <interval>', 'length of each interval').choices(VIEWER_GRAINS).default('minute'))
    .action(async (domain: string, stream: string | undefined, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const interval = VIEWER_GRAINS.find((grain) => grain === options['interval']);
      const which = stream === undefined ? {} : splitStream(stream);
      const name = await findDomainName(client, domain);
      const asked = { domain: name, interval, ...which, ...timesOf(context, options) };
      const data = await client.call('live.viewers', asked);
      const { ofSeconds } = timeTexts(context, options);
      const cells = (time: string, { flv, websocket, rtmp, hls }: (typeof data)['now']) => [
        time,
        ...[flv, websocket, rtmp, hls, flv + websocket + rtmp + hls].map(String),
      ];
      const rows = data.list.map(({ time, ...viewers }) => cells(ofSeconds(time), viewers));
      const heading = ['TIME', 'FLV', 'WEBSOCKET', 'RTMP', 'HLS', 'ALL'];
      printer(context, options)(data, formatTable([heading, ...rows, cells('now', data.now)]));
    });
  addCallCommand(
    command,
    context,
    'push-info <domain> <stream>',
    'show the URLs for publishing and playing a stream, with their keys',
  )
    .option('--host <host>', 'host name, for a wildcard domain')
    .option('--expire <seconds>', 'how long the URLs stay valid (default: one day)')
    .action(async (domain: string, stream: string, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const given = { host: textOption(options, 'host'), expire: textOption(options, 'expire') };
      const name = await findDomainName(client, domain);
      const data = await client.call('live.pushInfo', { domain: name, ...splitStream(stream), ...given });
      printer(context, options)(data, [
        ...formatTable([
          ['', 'PROTOCOL', 'URL'],
          ...data.publish.map(({ protocol, url }) => ['publish', protocol, url]),
          ...data.play.map(({ protocol, url }) => ['play', protocol, url]),
        ]),
        `valid until ${timeTexts(context, options).ofSeconds(data.expire_time)}`,
      ]);
    });
}

async function findStream(client: Client, account: string, domain: string, stream: string) {
  const domain_id = await findAnyDomainId(client, domain, account);
  return { account_id: account, domain_id, ...splitStream(stream) };
}

/** The stream as it is listed; `undefined` if it is not. */
async function readStream(client: Client, asked: Awaited<ReturnType<typeof findStream>>) {
  return (await client.call('liveOperator.list', asked)).list[0];
}

function pickState(text: string): (typeof STATES)[keyof typeof STATES] | undefined {
  return Object.values(STATES).find((state) => state === text.toUpperCase());
}
