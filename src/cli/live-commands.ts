/** `causeway live`: what is on air, who may publish, and the keys of domains. A stream is named `app/name`. */
import { Command, Option } from 'commander';
import type { Client } from '#client/client.ts';
import { VIEWER_GRAINS } from '#contract/live-operations.ts';
import type { DataOf } from '#contract/operations.ts';
import { printer, run } from './account-commands.ts';
import { readAllPages } from './all-pages.ts';
import { connectCustomer } from './connect.ts';
import { type CliContext, CliError } from './context.ts';
import { findAccountDomainId } from './operator-commands.ts';
import { addCallSettings, givenSettings, type Options, textOption } from './options.ts';
import { formatPairs, formatTable } from './output.ts';
import { addTimes, momentOf, timesOf } from './times.ts';

type Row = DataOf<'liveOperator.list'>['list'][number];

const STATES = { ready: 'READY', ongoing: 'ONGOING', paused: 'PAUSED' } as const;

export function liveCommand(context: CliContext): Command {
  const command = new Command('live').description(
    'live streams, for operators; those of the account: viewers, push-info',
  );
  addList(command, context);
  addMarks(command, context);
  addKeys(command, context);
  addCustomers(command, context);
  return command;
}

function addList(command: Command, context: CliContext): void {
  addCallSettings(command.command('list'), context)
    .description('list live streams of every domain, those on air first')
    .option('--account <account>', 'only those of this account')
    .option('--domain <id>', 'only those of the domain with this id')
    .addOption(new Option('--status <status>', 'only those that are in it').choices(Object.keys(STATES)))
    .action((options: Options) =>
      run(context, options, async (client, print) => {
        const state = textOption(options, 'status');
        const filter = {
          account_id: textOption(options, 'account'),
          domain_id: textOption(options, 'domain'),
          ...(state !== undefined && { status: pickState(state) }),
        };
        const rows = await readAllPages((page) => client.call('liveOperator.list', { ...filter, ...page }));
        print(rows, formatTable([HEADING, ...rows.map(toCells)]));
      }),
    );
  addCallSettings(command.command('show <account> <domain> <stream>'), context)
    .description('show a live stream with all its details')
    .action((account: string, domain: string, stream: string, options: Options) =>
      run(context, options, async (client, print) => {
        const { app_name, stream_name, ...of } = await findStream(client, account, domain, stream);
        const rows = await readAllPages((page) => client.call('liveOperator.list', { ...of, ...page }));
        const found = rows.find((row) => row.app_name === app_name && row.stream_name === stream_name);
        if (found === undefined) throw new CliError(`there is no live stream ${stream} on ${domain}`);
        print(found, formatPairs(describe(found)));
      }),
    );
  addTimes(addCallSettings(command.command('history <account> <domain> [stream]'), context))
    .description('list what was on air on a domain, the newest first')
    .action((account: string, domain: string, stream: string | undefined, options: Options) =>
      run(context, options, async (client, print) => {
        const of = { account_id: account, domain_id: await findAccountDomainId(client, account, domain) };
        const which = stream === undefined ? {} : splitStream(stream);
        const asked = { ...of, ...which, ...timesOf(context, options) };
        const rows = await readAllPages((page) => client.call('liveOperator.history', { ...asked, ...page }));
        const cells = rows.map((row) => [
          ...[`${row.app_name}/${row.stream_name}`, timeText(row.timestamp), timeText(row.endtime)],
          ...[row.end_reason || 'on air', row.source, row.address, String(row.peak_viewers), row.edge],
        ]);
        print(rows, formatTable([['STREAM', 'BEGAN', 'ENDED', 'WHY', 'SOURCE', 'ADDRESS', 'PEAK', 'EDGE'], ...cells]));
      }),
    );
}

function addMarks(command: Command, context: CliContext): void {
  const describeMark = (name: string, description: string) =>
    addCallSettings(command.command(`${name} <account> <domain> <stream>`), context).description(description);
  describeMark('forbid', 'cut a stream and let nobody publish or play it until it is resumed')
    .option('--until <time>', 'resume it by itself: a day such as 2026-01-31, or a moment such as 2026-01-31T12:00:00Z')
    .action((account: string, domain: string, stream: string, options: Options) =>
      run(context, options, async (client, print) => {
        const resume_at = momentOf(context, options, 'until');
        const asked = { ...(await findStream(client, account, domain, stream)), resume_at };
        const until = resume_at === undefined ? '' : ` until ${timeText(resume_at)}`;
        print(await client.call('liveOperator.forbid', asked), [`${stream} is forbidden${until}`]);
      }),
    );
  describeMark('resume', 'let a forbidden stream be published again').action(
    (account: string, domain: string, stream: string, options: Options) =>
      run(context, options, async (client, print) => {
        const asked = await findStream(client, account, domain, stream);
        print(await client.call('liveOperator.resume', asked), [`${stream} may be published`]);
      }),
  );
  describeMark('kick', 'disconnect the publisher of a stream; it may publish again').action(
    (account: string, domain: string, stream: string, options: Options) =>
      run(context, options, async (client, print) => {
        const asked = await findStream(client, account, domain, stream);
        print(await client.call('liveOperator.kick', asked), [`the publisher of ${stream} is disconnected`]);
      }),
  );
}

function addKeys(command: Command, context: CliContext): void {
  const kinds = ['publish', 'play'] as const;
  addCallSettings(command.command('keys <account> <domain>'), context)
    .description('show the keys of a domain, or change those of one kind')
    .addOption(
      new Option('--rotate <kind>', 'make a new primary key; the old one becomes the secondary').choices(kinds),
    )
    .option('--key <key>', 'with --rotate: this one, 16 to 64 letters and digits')
    .addOption(new Option('--drop-secondary <kind>', 'the secondary key counts no longer').choices(kinds))
    .addOption(new Option('--clear <kind>', 'no keys any more').choices(kinds))
    .action((account: string, domain: string, options: Options) =>
      run(context, options, async (client, print) => {
        const of = { account_id: account, domain_id: await findAccountDomainId(client, account, domain) };
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
  if (changes.length > 1) throw new CliError('--rotate, --drop-secondary and --clear cannot go together');
  const [change] = changes;
  if (key !== undefined && change?.action !== 'rotate') throw new CliError('--key goes with --rotate only');
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
    .description('show viewers now and over time, of a domain of the account or of one stream')
    .addOption(new Option('--interval <interval>', 'by').choices(VIEWER_GRAINS).default('minute'))
    .action(async (domain: string, stream: string | undefined, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const interval = VIEWER_GRAINS.find((grain) => grain === options['interval']);
      const which = stream === undefined ? {} : splitStream(stream);
      const data = await client.call('live.viewers', { domain, interval, ...which, ...timesOf(context, options) });
      const cells = (time: string, { flv, websocket, rtmp, hls }: (typeof data)['now']) => [
        time,
        ...[flv, websocket, rtmp, hls, flv + websocket + rtmp + hls].map(String),
      ];
      const rows = data.list.map(({ time, ...viewers }) => cells(timeText(time), viewers));
      const heading = ['TIME', 'FLV', 'WEBSOCKET', 'RTMP', 'HLS', 'ALL'];
      printer(context, options)(data, formatTable([heading, ...rows, cells('now', data.now)]));
    });
  addCallSettings(command.command('push-info <domain> <stream>'), context)
    .description('show the addresses for publishing and playing a stream, with their keys')
    .option('--host <host>', 'of a wildcard domain: the name under it')
    .option('--expire <seconds>', 'how long they can be used to begin; without it a day')
    .action(async (domain: string, stream: string, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const given = { host: textOption(options, 'host'), expire: textOption(options, 'expire') };
      const data = await client.call('live.pushInfo', { domain, ...splitStream(stream), ...given });
      printer(context, options)(data, [
        ...formatTable([
          ['', 'PROTOCOL', 'ADDRESS'],
          ...data.publish.map(({ protocol, url }) => ['publish', protocol, url]),
          ...data.play.map(({ protocol, url }) => ['play', protocol, url]),
        ]),
        `until ${timeText(data.expire_time)}`,
      ]);
    });
}

async function findStream(client: Client, account: string, domain: string, stream: string) {
  const domain_id = await findAccountDomainId(client, account, domain);
  return { account_id: account, domain_id, ...splitStream(stream) };
}

function splitStream(text: string) {
  const [app_name = '', stream_name = '', ...rest] = text.split('/');
  if (app_name === '' || stream_name === '' || rest.length > 0)
    throw new CliError(`<stream>: expected app/name such as live/news, not ${text}`);
  return { app_name, stream_name };
}

function pickState(text: string): (typeof STATES)[keyof typeof STATES] | undefined {
  return Object.values(STATES).find((state) => state === text.toUpperCase());
}

const HEADING = ['STREAM', 'DOMAIN', 'ACCOUNT', 'STATUS', 'BEGAN', 'VIEWERS', 'KBIT/S', 'SILENT', 'EDGE'];

function toCells(row: Row): string[] {
  const { details } = row;
  return [
    ...[`${row.app_name}/${row.stream_name}`, row.domain, row.account_id, row.status, timeText(row.timestamp)],
    details === null ? '-' : String(countViewers(details)),
    details === null ? '-' : String(Math.round(details.bit_rate / 1000)),
    details === null ? '-' : `${(details.silent_ms / 1000).toFixed(1)} s`,
    row.edge || '-',
  ];
}

function countViewers({ viewers: { flv, websocket, rtmp, hls } }: NonNullable<Row['details']>): number {
  return flv + websocket + rtmp + hls;
}

function describe(row: Row): [string, string][] {
  const { details } = row;
  return [
    ['stream', `${row.app_name}/${row.stream_name}`],
    ['domain', `${row.domain} (${row.domain_id})`],
    ['status', row.status],
    ['began', timeText(row.timestamp)],
    ['ended', timeText(row.endtime)],
    ['resumed at', row.resume_at === 0 ? '' : timeText(row.resume_at)],
    ['broadcast', row.broadcast],
    ['edge', row.edge],
    ...(details === null ? [] : describeDetails(details)),
  ];
}

function describeDetails(details: NonNullable<Row['details']>): [string, string][] {
  const { flv, websocket, rtmp, hls } = details.viewers;
  return [
    ['source', `${details.source} ${details.address}`],
    ['encoder', details.encoder],
    [
      'video',
      details.video_codec && `${details.video_codec} ${details.width}x${details.height} ${details.frame_rate}/s`,
    ],
    ['audio', details.audio_codec],
    ['key frames', details.key_frame_ms === 0 ? '' : `every ${details.key_frame_ms} ms`],
    ['bit rate', `${details.bit_rate} bit/s`],
    ['viewers', `flv ${flv}, websocket ${websocket}, rtmp ${rtmp}, hls ${hls}`],
    ['silent for', `${details.silent_ms} ms${details.in_grace === '1' ? ', the publisher is lost' : ''}`],
    ['repaired', `${details.repaired_timestamps} timestamps`],
  ];
}

function timeText(seconds: number): string {
  return seconds === 0 ? '-' : new Date(seconds * 1000).toISOString().replace('.000', '');
}
