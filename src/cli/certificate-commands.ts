/** `causeway certificate`, and `causeway domain ssl`: without a change it shows what is set. */
import { basename } from 'node:path';
import { Command, Option } from 'commander';
import type { Client } from '#client/client.ts';
import type { DataOf } from '#contract/operations.ts';
import { printer } from './account-commands.ts';
import { connectCustomer } from './connect.ts';
import { type CliContext, CliError } from './context.ts';
import { onDomain, type Shown, WAIT_MEANING } from './on-domain.ts';
import {
  addCallSettings,
  addChangeSettings,
  givenSettings,
  ifRevision,
  type Options,
  onOffOption,
  textOption,
} from './options.ts';
import { formatPairs, formatTable } from './output.ts';
import { addRequestCommands } from './request-certificate.ts';
import { readTextFile } from './setting-commands.ts';

export function certificateCommand(context: CliContext): Command {
  const command = new Command('certificate').description('certificates of the account, which its domains are given');
  const describe = (usage: string, description: string) =>
    addCallSettings(command.command(usage), context).description(description);
  describe('add <certificate> <key>', 'add one from files of PEM: the certificate with its chain, and its private key')
    .option('--title <text>', 'a name for it; without it that of the file')
    .action((certificate: string, key: string, options: Options) => addCertificate(context, certificate, key, options));
  describe('list', 'list the certificates').action((options: Options) => listCertificates(context, options));
  describe('rm <certificate>', 'delete one that no domain has, by its key in the list').action(
    async (key: string, options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const data = await client.call('certificate.delete', { ssl_key: key });
      printer(context, options)(data, [`certificate ${key} is deleted`]);
    },
  );
  addRequestCommands(command, context);
  return command;
}

export function sslCommand(context: CliContext): Command {
  return addChangeSettings(new Command('ssl').argument('<domain>'), context)
    .description("show a domain's HTTPS, and change what is given")
    .addOption(
      new Option('--off', 'HTTP alone; the certificate is let go').conflicts(['certificate', 'secondCertificate']),
    )
    .option('--certificate <key>', 'serve it over HTTPS with this certificate')
    .option(
      '--second-certificate <key>',
      'serve this one, too, to clients that accept its kind of key alone; none: only the first',
    )
    .addOption(onOffOption('--force-https <switch>', 'redirect plain HTTP to HTTPS'))
    .option('--hsts <seconds>', 'tell browsers to come by HTTPS alone for so long; 0: do not')
    .addOption(new Option('--min-version <version>', 'of TLS').choices(['1.2', '1.3']))
    .option('--wait', WAIT_MEANING)
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, (client, id) => changeSsl(client, id, options)),
    );
}

async function addCertificate(context: CliContext, certificate: string, key: string, options: Options): Promise<void> {
  const texts = { certificate: readPem(certificate), private_key: readPem(key) };
  const title = textOption(options, 'title') ?? basename(certificate);
  const client = connectCustomer(context, givenSettings(context, options));
  const data = await client.call('certificate.add', { ssl_title: title, ...texts });
  const warnings = (data.warnings ?? []).map(({ text }) => `warning: ${text}`);
  printer(context, options)(data, [`certificate ${data.ssl_key}`, ...warnings]);
}

/** The service says the same of a text, but a file of DER is none. */
function readPem(path: string): string {
  const text = readTextFile(path);
  if (text.includes('-----BEGIN ')) return text;
  throw new CliError(`${path} is not PEM: one of DER becomes it by openssl x509 (or pkey) -inform DER -in … -out …`);
}

async function listCertificates(context: CliContext, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const data = await client.call('certificate.list', {});
  const rows = data.map((one) => [
    one.ssl_key,
    one.status_name,
    one.key_kind,
    new Date(one.validto_time * 1000).toISOString().slice(0, 'YYYY-MM-DD'.length),
    one.title,
    one.issuer,
    one.subjectaltname,
  ]);
  printer(context, options)(
    data,
    formatTable([['KEY', 'STATUS', 'KEY KIND', 'VALID TO', 'TITLE', 'ISSUER', 'DOMAINS'], ...rows]),
  );
}

async function changeSsl(client: Client, id: string, options: Options): Promise<Shown> {
  const now = await client.call('config.getSsl', { domain_id: id });
  const given = givenSsl(options, now.ssl_control);
  if (given === undefined) return showSsl(now);
  await client.call('config.setSsl', { domain_id: id, ...given, ...ifRevision(options) });
  return showSsl(await client.call('config.getSsl', { domain_id: id }));
}

/** `undefined`: nothing is to change. */
function givenSsl(options: Options, present: '0' | '1') {
  const [sslKey, forced] = [textOption(options, 'certificate'), textOption(options, 'forceHttps')];
  const second = textOption(options, 'secondCertificate');
  const [hsts, version] = [textOption(options, 'hsts'), textOption(options, 'minVersion')];
  const isOff = options['off'] === true;
  if (!isOff && [sslKey, second, forced, hsts, version].every((option) => option === undefined)) return undefined;
  const isGiven = sslKey !== undefined || (second !== undefined && second !== 'none');
  const on = isGiven ? '1' : present;
  return {
    ssl_control: isOff ? ('0' as const) : on,
    ssl_key: sslKey,
    ssl_key_second: second === 'none' ? '' : second,
    force_https: forced === undefined ? undefined : flagOf(forced),
    hsts_max_age: hsts,
    tls_min_version: version,
  };
}

function flagOf(word: string): '0' | '1' {
  return word === 'on' ? '1' : '0';
}

function showSsl(data: DataOf<'config.getSsl'>): Shown {
  const lines = formatPairs([
    ['https', data.ssl_control === '1' ? 'on' : 'off'],
    ['certificate', data.ssl_key ?? ''],
    ['second certificate', data.ssl_key_second ?? ''],
    ['force https', data.force_https === '1' ? 'on' : 'off'],
    ['hsts', data.hsts_max_age === '0' ? 'off' : `${data.hsts_max_age} s`],
    ['min version', `TLS ${data.tls_min_version}`],
  ]);
  return { data, lines };
}
