/** `causeway certificate`, and `causeway domain ssl`: without a change it shows what is set. */

import { basename } from 'node:path';
import { Command, Option } from 'commander';
import type { Client } from '#client/transport.ts';
import type { DataOf } from '#contract/operations.ts';
import { WIRE_HTTPS_SETTINGS } from '#contract/settings/settings.ts';
import { PAGE_SIZE, readFullPages } from '../command/all-pages.ts';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { onDomain, type Shown, WAIT_MEANING } from '../command/on-domain.ts';
import {
  addCallCommand,
  addChangeSettings,
  givenSettings,
  ifRevision,
  type Options,
  parseWholeNumber,
  textOption,
} from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { readUserFile } from '../command/read-user-file.ts';
import { printer } from '../command/run-operation.ts';
import { type TimeTexts, timeTexts } from '../command/times.ts';
import { addRequestCommands } from './request-certificate.ts';
import { addSettingOptions, givenFields } from './setting-options.ts';

export function certificateCommand(context: CliContext): Command {
  const command = new Command('certificate').description('manage the certificates of the account');
  addCallCommand(
    command,
    context,
    'add <certificate> <key>',
    'add a certificate from PEM files: the certificate with its chain, and its private key',
  )
    .option('--title <text>', 'title of the certificate (default: the file name)')
    .action((certificate: string, key: string, options: Options) => addCertificate(context, certificate, key, options));
  addCallCommand(command, context, 'list', 'list certificates')
    .option('--page <number>', 'show only this page', parseWholeNumber)
    .option('--page-size <number>', 'certificates per page, at most 100', parseWholeNumber)
    .action((options: Options) => listCertificates(context, options));
  addCallCommand(
    command,
    context,
    'show <certificate>',
    'show a certificate, by its key in the list, and why clients may reject it',
  ).action((key: string, options: Options) => showCertificate(context, key, options));
  addCallCommand(
    command,
    context,
    'rm <certificate>',
    'delete a certificate that no domain uses, by its key in the list',
  ).action(async (key: string, options: Options) => {
    const client = connectCustomer(context, givenSettings(context, options));
    const data = await client.call('certificate.delete', { ssl_key: key });
    printer(context, options)(data, [`certificate ${key} deleted`]);
  });
  addRequestCommands(command, context);
  return command;
}

export function sslCommand(context: CliContext): Command {
  const command = addChangeSettings(new Command('ssl').argument('<domain>'), context)
    .description("show a domain's HTTPS settings, or change the given ones")
    .addOption(
      new Option('--off', 'turn HTTPS off and detach the certificate').conflicts(['certificate', 'secondCertificate']),
    )
    .option('--certificate <key>', 'turn HTTPS on with this certificate')
    .option(
      '--second-certificate <key>',
      'second certificate with another key type, for clients that do not accept the first; none: remove it',
    );
  return addSettingOptions(command, WIRE_HTTPS_SETTINGS)
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

/** Refuses a file that is not text, such as DER, with the service's own message. */
function readPem(path: string): string {
  const text = readUserFile(path);
  if (text.includes('-----BEGIN ')) return text;
  throw new CliError(`${path} is not a PEM file; convert DER with openssl x509 (or pkey) -inform DER -in … -out …`);
}

type Certificate = DataOf<'certificate.list'>[number];

async function listCertificates(context: CliContext, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const { page: onlyPage, pageSize = PAGE_SIZE } = options;
  const ask = (page: { page: number; page_size: number }) => client.call('certificate.list', page);
  const data =
    onlyPage === undefined
      ? await readFullPages(ask, Number(pageSize))
      : await ask({ page: Number(onlyPage), page_size: Number(pageSize) });
  const { ofSeconds } = timeTexts(context, options);
  const rows = data.map((one) => [
    one.ssl_key,
    one.status_name,
    one.key_kind,
    ofSeconds(one.validto_time),
    one.title,
    one.issuer,
    one.subjectaltname,
  ]);
  const warnings = data.flatMap(({ ssl_key, warnings: own = [] }) =>
    own.map(({ text }) => `warning: ${ssl_key}: ${text}`),
  );
  printer(context, options)(data, [
    ...formatTable([['KEY', 'STATUS', 'KEY TYPE', 'VALID TO', 'TITLE', 'ISSUER', 'DOMAINS'], ...rows]),
    ...warnings,
  ]);
}

async function showCertificate(context: CliContext, key: string, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const all = await readFullPages((page) => client.call('certificate.list', page));
  const one = all.find(({ ssl_key }) => ssl_key === key);
  if (one === undefined) throw new CliError(`the account has no certificate ${key}; see causeway certificate list`);
  printer(context, options)(one, formatPairs(describeCertificate(one, timeTexts(context, options))));
}

function describeCertificate(one: Certificate, { ofSeconds }: TimeTexts): [string, string][] {
  return [
    ['key', one.ssl_key],
    ['status', one.status_name],
    ['key type', one.key_kind],
    ['valid from', ofSeconds(one.validfrom_time)],
    ['valid to', ofSeconds(one.validto_time)],
    ['title', one.title],
    ['issuer', one.issuer],
    ['domains', one.subjectaltname],
    ...describeWarnings(one.warnings),
  ];
}

/** Returns a pair for each, for commands that show a domain or a certificate. */
export function describeWarnings(warnings: Certificate['warnings'] = []): [string, string][] {
  return warnings.map(({ text }) => ['warning', text]);
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
  const [sslKey, second] = [textOption(options, 'certificate'), textOption(options, 'secondCertificate')];
  const chosen = givenFields(WIRE_HTTPS_SETTINGS, options);
  const isOff = options['off'] === true;
  if (!isOff && sslKey === undefined && second === undefined && Object.keys(chosen).length === 0) return undefined;
  const isGiven = sslKey !== undefined || (second !== undefined && second !== 'none');
  const on = isGiven ? '1' : present;
  return {
    ssl_control: isOff ? ('0' as const) : on,
    ssl_key: sslKey,
    ssl_key_second: second === 'none' ? '' : second,
    ...chosen,
  };
}

function showSsl(data: DataOf<'config.getSsl'>): Shown {
  const lines = formatPairs([
    ['HTTPS', data.ssl_control === '1' ? 'on' : 'off'],
    ['certificate', data.ssl_key ?? ''],
    ['second certificate', data.ssl_key_second ?? ''],
    ['force HTTPS', data.force_https === '1' ? 'on' : 'off'],
    ['HSTS', data.hsts_max_age === '0' ? 'off' : `${data.hsts_max_age} s`],
    ['minimum version', `TLS ${data.tls_min_version}`],
    ...describeWarnings(data.warnings),
  ]);
  return { data, lines };
}
