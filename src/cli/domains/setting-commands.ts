/** `causeway domain policies` and `causeway domain advanced`: without a change they show what is set. */

import { Command, Option } from 'commander';
import type { Client } from '#client/transport.ts';
import type { DataOf } from '#contract/operations.ts';
import { WIRE_SWITCHES, WIRE_VALIDITIES } from '#contract/settings/settings.ts';
import type { CliContext } from '../command/context.ts';
import { onDomain, type Shown, WAIT_MEANING } from '../command/on-domain.ts';
import { addChangeSettings, ifRevision, type Options, textOption } from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { readRequest } from '../command/read-request.ts';
import { readUserFile } from '../command/read-user-file.ts';
import { addSettingOptions, describeFields, givenFields } from './setting-options.ts';

type Policies = DataOf<'config.getPolicies'>;

export function policiesCommand(context: CliContext): Command {
  return addChangeSettings(new Command('policies').argument('<domain>'), context)
    .description("show a domain's cache policies, or replace them")
    .option('--set <file>', 'replace them with those in a JSON file, as printed by --json')
    .option('--wait', WAIT_MEANING)
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, (client, id) => changePolicies(client, id, options)),
    );
}

export function advancedCommand(context: CliContext): Command {
  const command = addChangeSettings(new Command('advanced').argument('<domain>'), context);
  return addSettingOptions(addSettingOptions(command, WIRE_SWITCHES), WIRE_VALIDITIES)
    .description("show a domain's advanced settings, or change the given ones")
    .addOption(
      new Option('--forbid <how>', 'response to refused viewers: plain 403, 403 with a page, or 302 redirect').choices([
        'plain',
        '403',
        '302',
      ]),
    )
    .option('--forbid-redirect-url <url>', 'target of the 302 redirect')
    .option('--html-403 <file>', 'HTML page of the 403 response')
    .option('--wait', WAIT_MEANING)
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, (client, id) => changeAdvanced(client, id, options)),
    );
}

async function changePolicies(client: Client, id: string, options: Options): Promise<Shown> {
  const file = textOption(options, 'set');
  if (file !== undefined) {
    const request = readRequest('config.setPolicies', readUserFile(file), file, {
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
  const headers = use_header_setting === '1' ? 'honored' : 'ignored';
  const table = formatTable([['PRIORITY', 'TYPE', 'SCHEME', 'FOR', 'CONTENT'], ...rows]);
  return [...formatPairs([["origin's cache headers", headers]]), ...table];
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
  return {
    ...givenFields(WIRE_SWITCHES, options),
    ...givenFields(WIRE_VALIDITIES, options),
    ...given('forbid_http_code', 'forbid', (how) => (how === 'plain' ? '' : how)),
    ...given('forbid_redirect_url', 'forbidRedirectUrl'),
    ...given('html_403', 'html403', readUserFile),
  };
}

/** `page`: the one of 403, which only the domain itself has. */
function describeAdvanced(data: DataOf<'config.getAdvanced'>, page: string): string[] {
  return formatPairs([
    ...describeFields(WIRE_SWITCHES, data),
    ...describeFields(WIRE_VALIDITIES, data),
    ['forbid', data.forbid_http_code || 'plain'],
    ['forbid-redirect-url', data.forbid_redirect_url],
    ['html-403', page === '' ? 'none' : `stored, ${Buffer.byteLength(page)} bytes`],
  ]);
}
