/** `causeway domain policies` and `causeway domain advanced`: without a change they show what is set. */
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { Client } from '#client/client.ts';
import type { DataOf } from '#contract/operations.ts';
import { type CliContext, CliError } from './context.ts';
import { onDomain, type Shown, WAIT_MEANING } from './on-domain.ts';
import { addChangeSettings, ifRevision, type Options, onOffOption, textOption } from './options.ts';
import { formatPairs, formatTable } from './output.ts';
import { readRequest } from './read-request.ts';

type Policies = DataOf<'config.getPolicies'>;

export function policiesCommand(context: CliContext): Command {
  return addChangeSettings(new Command('policies').argument('<domain>'), context)
    .description("show a domain's cache policies, or replace them")
    .option('--set <file>', 'replace them by those in a file, JSON as --json prints it')
    .option('--wait', WAIT_MEANING)
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, (client, id) => changePolicies(client, id, options)),
    );
}

export function advancedCommand(context: CliContext): Command {
  return addChangeSettings(new Command('advanced').argument('<domain>'), context)
    .description("show a domain's advanced configuration, and change what is given")
    .addOption(onOffOption('--keep-url-params <switch>', 'the query does not distinguish objects'))
    .addOption(onOffOption('--prefix-cache-first <switch>', 'cache policies for directories go first'))
    .addOption(onOffOption('--redirect-follow <switch>', "the origin's redirects are followed"))
    .addOption(onOffOption('--page-compress <switch>', 'texts are compressed'))
    .addOption(onOffOption('--range-back-source <switch>', 'large objects are fetched in slices'))
    .option('--expires <seconds>', 'how long browsers keep an answer; 0: as the origin says')
    .option('--access-control-max-age <seconds>', 'how long browsers keep the result of a preflight; 0: as above')
    .addOption(
      new Option('--forbid <how>', 'what viewers get who are refused: a plain 403, the page, or a redirect').choices([
        'plain',
        '403',
        '302',
      ]),
    )
    .option('--forbid-redirect-url <url>', 'where they are sent with 302')
    .option('--html-403 <file>', 'the page that they get with 403')
    .option('--wait', WAIT_MEANING)
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, (client, id) => changeAdvanced(client, id, options)),
    );
}

async function changePolicies(client: Client, id: string, options: Options): Promise<Shown> {
  const file = textOption(options, 'set');
  if (file !== undefined) {
    const request = readRequest('config.setPolicies', readTextFile(file), file, {
      domain_id: id,
      ...ifRevision(options),
    });
    await client.call('config.setPolicies', request);
  }
  const data = await client.call('config.getPolicies', { domain_id: id });
  return { data, lines: describePolicies(data) };
}

function describePolicies({ use_header_setting, policy }: Policies): string[] {
  const rows = policy.map((one) => [
    String(one.priority),
    one.policy_type,
    one.policy_scheme ?? 'both',
    one.is_cache === '1' ? describeTime(one) : 'not cached',
    one.content,
  ]);
  const headers = use_header_setting === '1' ? 'followed' : 'not followed';
  const table = formatTable([['PRIORITY', 'TYPE', 'SCHEME', 'FOR', 'CONTENT'], ...rows]);
  return [...formatPairs([["origin's headers", headers]]), ...table];
}

function describeTime({ time_y, time_d, time_h, time_i, time_s }: Policies['policy'][number]): string {
  const parts = [`${time_y} y`, `${time_d} d`, `${time_h} h`, `${time_i} min`, `${time_s} s`];
  return parts.filter((part) => !part.startsWith('0 ')).join(' ') || 'not cached';
}

async function changeAdvanced(client: Client, id: string, options: Options): Promise<Shown> {
  const given = givenAdvanced(options);
  if (Object.keys(given).length > 0) {
    // The operation wants all of them at once. docs/decisions/0100
    const now = await client.call('config.getAdvanced', { domain_id: id });
    await client.call('config.setAdvanced', {
      ...now,
      ...given,
      domain_id: id,
      if_revision: textOption(options, 'ifRevision') ?? now.revision,
    });
  }
  const data = await client.call('config.getAdvanced', { domain_id: id });
  const { html_403: page } = await client.call('domain.get', { domain_id: id });
  return { data, lines: describeAdvanced(data, page) };
}

/** The fields that are to change. */
function givenAdvanced(options: Options): Readonly<Record<string, string>> {
  const given = (field: string, name: string, toWire: (text: string) => string = (text) => text) => {
    const text = textOption(options, name);
    return text === undefined ? {} : { [field]: toWire(text) };
  };
  const toSwitch = (text: string) => (text === 'on' ? '1' : '0');
  return {
    ...given('keep_url_params', 'keepUrlParams', toSwitch),
    ...given('prefix_cache_first', 'prefixCacheFirst', toSwitch),
    ...given('redirect_follow', 'redirectFollow', toSwitch),
    ...given('page_compress', 'pageCompress', toSwitch),
    ...given('range_back_source', 'rangeBackSource', toSwitch),
    ...given('expires', 'expires'),
    ...given('access_control_max_age', 'accessControlMaxAge'),
    ...given('forbid_http_code', 'forbid', (how) => (how === 'plain' ? '' : how)),
    ...given('forbid_redirect_url', 'forbidRedirectUrl'),
    ...given('html_403', 'html403', readTextFile),
  };
}

/** `page`: the one of 403, which only the domain itself has. */
function describeAdvanced(data: DataOf<'config.getAdvanced'>, page: string): string[] {
  const onOff = (value: '0' | '1') => (value === '1' ? 'on' : 'off');
  return formatPairs([
    ['keep-url-params', onOff(data.keep_url_params)],
    ['prefix-cache-first', onOff(data.prefix_cache_first)],
    ['redirect-follow', onOff(data.redirect_follow)],
    ['page-compress', onOff(data.page_compress)],
    ['range-back-source', onOff(data.range_back_source)],
    ['expires', `${data.expires} s`],
    ['access-control-max-age', `${data.access_control_max_age} s`],
    ['forbid', data.forbid_http_code || 'plain'],
    ['forbid-redirect-url', data.forbid_redirect_url],
    ['html-403', page === '' ? 'none' : `stored, ${Buffer.byteLength(page)} bytes`],
  ]);
}

/** Reads a file that the user named; throws `CliError`. */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new CliError(`${path} cannot be read: ${code}`, { cause: error });
  }
}
