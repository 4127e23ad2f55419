/** `causeway live`: whether a domain of the account is recorded, and its recordings. */
import { open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { type Command, Option } from 'commander';
import type { Client } from '#client/transport.ts';
import type { DataOf } from '#contract/operations.ts';
import { describeFileError } from '#lib/file-error.ts';
import { readAllPages } from '../command/all-pages.ts';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { findDomainName } from '../command/find-domain.ts';
import { onDomain } from '../command/on-domain.ts';
import {
  addCallCommand,
  addCallSettings,
  addChangeSettings,
  givenSettings,
  ifRevision,
  type Options,
  textOption,
} from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { printer } from '../command/run-operation.ts';
import { addTimes, type TimeTexts, timesOf, timeTexts } from '../command/times.ts';
import { splitStream } from './live-words.ts';

type Recording = DataOf<'live.listRecordings'>['list'][number];

export function addRecordings(command: Command, context: CliContext): void {
  addChangeSettings(command.command('record <domain>'), context)
    .description('show or change whether the streams of a domain are recorded')
    .addOption(new Option('--on', 'record the streams').conflicts('off'))
    .option('--off', 'stop recording; existing recordings are kept until they expire')
    .option('--days <days>', 'days to keep recordings, existing ones too, after their last media')
    .action((named: string, options: Options) =>
      onDomain(context, named, options, async (client) => {
        const domain = await findDomainName(client, named);
        const before = await client.call('live.getRecording', { domain });
        const record = options['on'] === true ? '1' : options['off'] === true ? '0' : before.record;
        const keep_days = textOption(options, 'days');
        if (record !== before.record || keep_days !== undefined)
          await client.call('live.setRecording', { domain, record, keep_days, ...ifRevision(options) });
        const data = await client.call('live.getRecording', { domain });
        const lines = formatPairs([
          ['recording', data.record === '1' ? 'on' : 'off'],
          ['kept for', data.keep_days === 1 ? '1 day' : `${data.keep_days} days`],
        ]);
        return { data, lines };
      }),
    );
  addTimes(addCallSettings(command.command('recordings <domain> [stream]'), context))
    .description('list the recordings of a domain, newest first')
    .action(async (domain: string, stream: string | undefined, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const asked = {
        domain: await findDomainName(client, domain),
        ...(stream !== undefined && splitStream(stream)),
        ...timesOf(context, options),
      };
      const rows = await readAllPages((page) => client.call('live.listRecordings', { ...asked, ...page }));
      printer(context, options)(
        rows,
        formatTable([HEADING, ...rows.map((row) => toCells(row, timeTexts(context, options)))]),
      );
    });
  addCallCommand(
    command,
    context,
    'download <domain> <recording> <file>',
    'download a recording into a new MP4 file',
  ).action(async (domain: string, recording: string, file: string, options: Options) => {
    const client = connectCustomer(context, givenSettings(context, options));
    const name = await findDomainName(client, domain);
    const { download_url, size } = await findRecording(client, name, recording);
    await download(download_url, file);
    printer(context, options)({ file, size }, [`${file}: ${size} bytes`]);
  });
  addCallCommand(command, context, 'delete-recording <domain> <recording>', 'delete a recording').action(
    async (domain: string, recording_id: string, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const name = await findDomainName(client, domain);
      const data = await client.call('live.deleteRecording', { domain: name, recording_id });
      printer(context, options)(data, [`recording ${recording_id} deleted`]);
    },
  );
}

async function findRecording(client: Client, domain: string, recording: string): Promise<Recording> {
  const all = { domain, starttime: '0' };
  const rows = await readAllPages((page) => client.call('live.listRecordings', { ...all, ...page }));
  const found = rows.find(({ recording_id }) => recording_id === recording);
  if (found === undefined) throw new CliError(`${domain} has no recording ${recording}`);
  return found;
}

async function download(url: string, file: string): Promise<void> {
  if (file === '-')
    throw new CliError('<file>: expected the name of a new file; recordings cannot be written to standard output');
  const target = await open(file, 'wx').catch((error: unknown) => {
    throw new CliError(`cannot create ${file}: ${describeFileError(error)}`);
  });
  try {
    const response = await fetch(url);
    if (!response.ok || response.body === null)
      throw new CliError(`the download failed with HTTP status ${response.status}`);
    // `as`: the types of the web stream and of Node's are one at run time.
    await pipeline(Readable.fromWeb(response.body as ReadableStream), target.createWriteStream());
  } catch (cause) {
    await rm(file, { force: true });
    if (cause instanceof CliError) throw cause;
    throw new CliError(`the download was interrupted and ${file} deleted: ${String(cause)}`, { cause });
  }
}

const HEADING = ['RECORDING', 'STREAM', 'BEGAN', 'SECONDS', 'BYTES', 'STATUS', 'WHY'];

function toCells(row: Recording, { ofSeconds }: TimeTexts): string[] {
  const { recording_id, app_name, stream_name, starttime, duration_ms, size, status, end_reason } = row;
  const seconds = (duration_ms / 1000).toFixed(1);
  return [recording_id, `${app_name}/${stream_name}`, ofSeconds(starttime), seconds, size, status, end_reason || '-'];
}
