/** A domain's rules in a line each, for `causeway domain show`; the commands of each rule show all of it. */
import type { Client } from '#client/transport.ts';
import { REFERER_TYPES } from '#contract/domains/access-operations.ts';
import { WIRE_DENY_LISTS } from '#contract/domains/deny-lists.ts';
import type { DataOf } from '#contract/operations.ts';
import { WIRE_SWITCHES } from '#contract/settings/settings.ts';
import { type DenyList, eachDenyList } from '#model/domain.ts';
import { readDenyList, refererEntries } from './access-commands.ts';

type Pair = readonly [string, string];

export async function describeRules(client: Client, domain: DataOf<'domain.get'>): Promise<readonly Pair[]> {
  const key = { domain_id: domain.domain_id };
  const [policies, referer, ...lists] = await Promise.all([
    client.call('config.getPolicies', key),
    client.call('config.getReferer', key),
    ...Object.values(eachDenyList((list) => describeDenyList(client, list, domain.domain_id))),
  ]);
  const blank = referer.referer_blank === '1' ? 'requests without Referer allowed' : 'requests without Referer refused';
  const refererRule = REFERER_TYPES.valueOf[referer.referer_type];
  return [
    [
      'policies',
      `${policies.policy.length}, origin's cache headers ${policies.use_header_setting === '1' ? 'honored' : 'ignored'}`,
    ],
    [
      'referer',
      refererRule === 'off'
        ? describeRule('off', refererEntries(referer))
        : `${describeRule(refererRule, refererEntries(referer))}, ${blank}`,
    ],
    ...lists,
    [
      'forbid',
      domain.forbid_http_code === '302' ? `302 ${domain.forbid_redirect_url}` : domain.forbid_http_code || 'plain',
    ],
    ['enabled', switchesOn(domain)],
  ];
}

async function describeDenyList(client: Client, list: DenyList, id: string): Promise<Pair> {
  const { isOn, entries } = await readDenyList(client, list, id);
  return [WIRE_DENY_LISTS[list].command.name, describeRule(isOn ? 'deny' : 'off', entries)];
}

/** `deny 2`, `off (2 stored)`. */
function describeRule(rule: string, { length: count }: readonly string[]): string {
  if (rule === 'off') return count === 0 ? 'off' : `off (${count} stored)`;
  return `${rule} ${count}`;
}

function switchesOn(domain: DataOf<'domain.get'>): string {
  const fields: Readonly<Record<string, unknown>> = domain;
  const names = [...Object.keys(WIRE_SWITCHES.fields), 'ssl_control'];
  const on = names.filter((name) => fields[name] === '1').map((name) => name.replaceAll('_', '-'));
  return on.join(' ') || 'none';
}
