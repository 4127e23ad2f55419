/** `causeway domain export` and `causeway apply`: domains as files. docs/decisions/0626 */

import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { ClientError } from '#client/client-error.ts';
import type { Client } from '#client/transport.ts';
import { SETTING_TOPICS } from '#contract/changes/setting-topics.ts';
import { CDN_TYPES } from '#contract/domains/domain-data.ts';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { readAllPages } from '../command/all-pages.ts';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { findDomainId } from '../command/find-domain.ts';
import {
  addCallCommand,
  addChangeSettings,
  givenSettings,
  ifRevision,
  type Options,
  textOption,
} from '../command/options.ts';
import { readUserFile } from '../command/read-user-file.ts';
import { printer } from '../command/run-operation.ts';
import { type CertificateTitles, createCertificateTitles } from './certificate-titles.ts';
import { describeChanges } from './describe-changes.ts';
import { type DomainFile, formatDomainFile, parseDomainFile, settingsBeyond, type Topics } from './domain-file.ts';

/** What was done with one file, or would be. */
interface Applied {
  readonly file: string;
  readonly domain: string;
  readonly outcome: 'added' | 'changed' | 'unchanged';
  /** The topic of the remark is empty. */
  readonly changes: readonly Parameters<typeof describeChanges>[0][number][];
  readonly warnings: readonly string[];
}

export function addExportCommand(group: Command, context: CliContext): void {
  addCallCommand(group, context, 'export [domain]', 'print a domain as a TOML file, without certificates and secrets')
    .option('--all <folder>', 'write each domain of the account to a file in this folder instead')
    .action((domain: string | undefined, options: Options) => exportDomains(context, domain, options));
}

export function applyCommand(context: CliContext): Command {
  return addChangeSettings(new Command('apply').argument('<file...>'), context)
    .description('make domains what TOML files say, as domain export writes them; a folder stands for its *.toml files')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--check', 'the same, and end with 1 if anything would')
    .action((files: string[], options: Options) => applyFiles(context, files, options));
}

async function exportDomains(context: CliContext, domain: string | undefined, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const folder = textOption(options, 'all');
  if ((folder === undefined) === (domain === undefined)) throw new CliError('name a domain, or give --all');
  const titles = createCertificateTitles(client);
  if (folder === undefined) {
    const id = await findDomainId(client, domain ?? '');
    context.write(
      formatDomainFile(await readDomain(client, await client.call('domain.get', { domain_id: id }), titles)),
    );
    return;
  }
  mkdirSync(folder, { recursive: true });
  const domains = await readAllPages((page) => client.call('domain.list', page));
  for (const one of domains) {
    const file = join(folder, `${one.domain_name.replace(/^\*\./, '_.')}.toml`);
    writeFileSync(file, formatDomainFile(await readDomain(client, one, titles)));
  }
  printer(context, options)({ domains: domains.length }, [`${domains.length} domains written to ${folder}`]);
}

type Listed = Pick<DataOf<'domain.get'>, 'domain_id' | 'domain_name' | 'cdn_type_id' | 'icp_no' | 'remark'>;

async function readDomain(client: Client, domain: Listed, titles: CertificateTitles): Promise<DomainFile> {
  const { domain_id, domain_name, cdn_type_id: code, icp_no, remark } = domain;
  const { settings, defaults } = await client.call('domain.settings', { domain_id });
  const type = CDN_TYPES.valueOf[code];
  return { domain: domain_name, type, icp_no, remark, settings: await titles.name(settingsBeyond(defaults, settings)) };
}

async function applyFiles(context: CliContext, named: readonly string[], options: Options): Promise<void> {
  const files = named.flatMap((name) => filesAt(name)).map((file) => ({ file, wanted: readFile(file) }));
  if (files.length !== 1 && textOption(options, 'ifRevision') !== undefined)
    throw new CliError('--if-revision is for one file');
  refuseRepeated(files);
  const client = connectCustomer(context, givenSettings(context, options));
  const titles = createCertificateTitles(client);
  const results: Applied[] = [];
  for (const { file, wanted } of files)
    results.push(await namingFile(file, () => applyFile(client, file, wanted, titles, options)));
  printer(context, options)(
    results,
    results.flatMap((one) => describe(one, isTried(options))),
  );
  const differing = results.filter(({ outcome }) => outcome !== 'unchanged').length;
  if (options['check'] === true && differing > 0)
    throw new CliError(`${differing} of ${results.length} domains differ from their files`);
}

function isTried(options: Options): boolean {
  return options['dryRun'] === true || options['check'] === true;
}

async function applyFile(
  client: Client,
  file: string,
  wanted: DomainFile,
  titles: CertificateTitles,
  options: Options,
): Promise<Applied> {
  const isDryRun = isTried(options);
  const settings = await titles.resolve(wanted.settings);
  const present = await findDomain(client, wanted.domain);
  const { domain } = wanted;
  if (present === undefined) {
    const request = { ...addition(wanted, settings), dry_run: isDryRun ? '1' : '0' } as const;
    const { warnings = [] } = await client.call('domain.add', request);
    const texts = warnings.map(({ text }) => text);
    return { file, domain, outcome: 'added', changes: namedChanges(settings), warnings: texts };
  }
  const { domain_id } = present;
  refuseOther('type', CDN_TYPES.valueOf[present.cdn_type_id], wanted.type);
  if (wanted.icp_no !== '') refuseOther('icp_no', present.icp_no, wanted.icp_no);
  const { revision, defaults } = await client.call('domain.settings', { domain_id });
  const { changes, warnings } = await client.call('domain.change', {
    domain_id,
    set: over(defaults, settings),
    if_revision: ifRevision(options).if_revision ?? revision,
    dry_run: isDryRun ? '1' : '0',
  });
  const remarks = await applyRemark(client, present, wanted.remark, isDryRun);
  const all = [...remarks, ...changes];
  const outcome = all.length === 0 ? 'unchanged' : 'changed';
  return { file, domain, outcome, changes: all, warnings: warnings.map(({ text }) => text) };
}

async function applyRemark(client: Client, { domain_id, remark: before }: Listed, after: string, isDryRun: boolean) {
  if (before === after) return [];
  if (!isDryRun) await client.call('domain.setRemark', { domain_id, remark: after });
  return [{ topic: '', name: 'remark', before, after }];
}

/** Every setting: what the file does not name is at its default. */
function over(defaults: object, settings: Topics): CallOf<'domain.change'>['set'] {
  const usual = defaults as Topics; // an answer by topic
  const topics = SETTING_TOPICS.filter((topic) => topic in usual || topic in settings);
  return Object.fromEntries(topics.map((topic) => [topic, { ...usual[topic], ...settings[topic] }]));
}

function addition({ domain, type, icp_no, remark }: DomainFile, { origin, ...set }: Topics): CallOf<'domain.add'> {
  // `as`: the service says what is wrong with the values.
  return { domain, cdn_type: CDN_TYPES.codeOf[type], icp_no, remark, ...origin, set } as CallOf<'domain.add'>;
}

function namedChanges(settings: Topics): Applied['changes'] {
  return Object.entries(settings).flatMap(([topic, members]) =>
    Object.entries(members ?? {}).map(([name, after]) => ({ topic, name, after })),
  );
}

/** Returns `undefined` if the account has no domain of this name. */
async function findDomain(client: Client, name: string): Promise<DataOf<'domain.get'> | undefined> {
  try {
    return await client.call('domain.get', { domain_id: await findDomainId(client, name) });
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

function refuseOther(key: string, present: string, wanted: string): void {
  if (present !== wanted)
    throw new CliError(`${key}: it is ${JSON.stringify(present)}, and cannot be changed to ${JSON.stringify(wanted)}`);
}

function filesAt(name: string): readonly string[] {
  if (name === '-' || !isFolder(name)) return [name];
  return readdirSync(name)
    .filter((file) => file.endsWith('.toml'))
    .sort()
    .map((file) => join(name, file));
}

function isFolder(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readFile(file: string): DomainFile {
  return parseDomainFile(readUserFile(file), file);
}

/** All files are read before anything is changed. */
function refuseRepeated(files: readonly { readonly file: string; readonly wanted: DomainFile }[]): void {
  const seen = new Map<string, string>();
  for (const { file, wanted } of files) {
    const other = seen.get(wanted.domain);
    if (other !== undefined) throw new CliError(`${file}: ${other} is of the same domain, ${wanted.domain}`);
    seen.set(wanted.domain, file);
  }
}

/** Errors name the file, and settings as they stand in it. */
async function namingFile<R>(file: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CliError) && !(error instanceof ClientError)) throw error;
    const problem = error.message.replace(/set\[(\w+)\]\[(\w+)\]/g, '$1.$2');
    throw new CliError(`${file}: ${problem}`, { cause: error });
  }
}

function describe({ domain, outcome, changes, warnings }: Applied, isDryRun: boolean): string[] {
  const done = outcome === 'unchanged' ? 'no change' : isDryRun ? `would be ${outcome}` : outcome;
  const details = [...describeChanges(changes), ...warnings.map((text) => `warning: ${text}`)];
  return [`${domain}: ${done}`, ...details.map((line) => `  ${line}`)];
}
