/** Commands for lists of rules, such as `causeway domain rate-limits`: without a change they show what is set. */

import { Command } from 'commander';
import type { Client } from '#client/transport.ts';
import type { CliContext } from '../command/context.ts';
import { onDomain, type Shown, WAIT_MEANING } from '../command/on-domain.ts';
import { addChangeSettings, ifRevision, type Options, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { readRequest } from '../command/read-request.ts';
import { readUserFile } from '../command/read-user-file.ts';

interface RuleList {
  readonly name: string;
  /** Completes "show a domain's …, or replace them". */
  readonly what: string;
  /** The operation that replaces the list. */
  readonly set: 'config.setRateLimits' | 'config.setRedirects' | 'config.setResponseHeaders';
  show(client: Client, key: { readonly domain_id: string }): Promise<Shown>;
}

const RULE_LISTS: readonly RuleList[] = [
  {
    name: 'rate-limits',
    what: 'rate limits',
    set: 'config.setRateLimits',
    show: async (client, key) => {
      const data = await client.call('config.getRateLimits', key);
      const rows = data.limits.map((one) =>
        [one.requests, one.seconds, one.burst, one.path_type, one.path].map(String),
      );
      return { data, lines: formatTable([['REQUESTS', 'SECONDS', 'BURST', 'TYPE', 'PATH'], ...rows]) };
    },
  },
  {
    name: 'redirects',
    what: 'redirects',
    set: 'config.setRedirects',
    show: async (client, key) => {
      const data = await client.call('config.getRedirects', key);
      const rows = data.redirects.map((one) => [
        one.status,
        one.keep_query === '1' ? 'kept' : 'dropped',
        one.path_type,
        one.path,
        one.target,
      ]);
      return { data, lines: formatTable([['STATUS', 'QUERY', 'TYPE', 'PATH', 'TARGET'], ...rows]) };
    },
  },
  {
    name: 'headers',
    what: 'changes of response headers',
    set: 'config.setResponseHeaders',
    show: async (client, key) => {
      const data = await client.call('config.getResponseHeaders', key);
      const rows = data.headers.map(({ action, name, value }) => [action, name, value || '-']);
      return { data, lines: formatTable([['ACTION', 'NAME', 'VALUE'], ...rows]) };
    },
  },
];

export function ruleCommands(context: CliContext): Command[] {
  return RULE_LISTS.map((list) => ruleCommand(context, list));
}

function ruleCommand(context: CliContext, { name, what, set, show }: RuleList): Command {
  return addChangeSettings(new Command(name).argument('<domain>'), context)
    .description(`show a domain's ${what}, or replace them`)
    .option('--set <file>', 'replace them with those in a JSON file, as printed by --json')
    .option('--wait', WAIT_MEANING)
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, async (client, id) => {
        const key = { domain_id: id };
        const file = textOption(options, 'set');
        if (file !== undefined)
          await client.call(set, readRequest(set, readUserFile(file), file, { ...key, ...ifRevision(options) }));
        return await show(client, key);
      }),
    );
}
