/** `causeway domain referer`, and a command for each list of what is refused, such as `ua`. Without a change they show the current setting. */
import { Command, Option } from 'commander';
import type { Client } from '#client/transport.ts';
import { REFERER_TYPES } from '#contract/domains/access-operations.ts';
import { operationOf, WIRE_DENY_LISTS } from '#contract/domains/deny-lists.ts';
import type { DataOf } from '#contract/operations.ts';
import { type DenyList, eachDenyList, type RefererSettings } from '#model/domain.ts';
import type { CliContext } from '../command/context.ts';
import { onDomain, type Shown, WAIT_MEANING } from '../command/on-domain.ts';
import { addChangeSettings, addToList, ifRevision, listOption, type Options, textOption } from '../command/options.ts';
import { formatPairs } from '../command/output.ts';

export function refererCommand(context: CliContext): Command {
  return addRule(context, 'referer', 'pages (by Referer)', 'hosts')
    .addOption(listOf('--allow <hosts>', 'hosts to allow; all others are refused').conflicts('deny'))
    .addOption(onAgain('--on <rule>').choices(['deny', 'allow']).conflicts('allow'))
    .addOption(new Option('--blank <how>', 'what to do with requests without a Referer').choices(['allow', 'forbid']))
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, async (client, id) => {
        const asked = askedRule(options);
        const now = await client.call('config.getReferer', { domain_id: id });
        const blank = textOption(options, 'blank');
        if (asked === undefined && blank === undefined) return showReferer(now);
        await client.call('config.setReferer', {
          domain_id: id,
          referer_type: asked === undefined ? now.referer_type : REFERER_TYPES.codeOf[asked.rule],
          referer_blank: blank === undefined ? now.referer_blank : BLANK_OF_WORD[blank],
          referer_str: asked?.entries,
          if_revision: textOption(options, 'ifRevision') ?? now.revision,
        });
        return showReferer(await client.call('config.getReferer', { domain_id: id }));
      }),
    );
}

export function listCommands(context: CliContext): Command[] {
  return Object.values(eachDenyList((list) => listCommand(context, list)));
}

function listCommand(context: CliContext, list: DenyList): Command {
  const { command, write } = WIRE_DENY_LISTS[list];
  return addRule(context, command.name, command.what, command.entries)
    .addOption(onAgain('--on'))
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, async (client, id) => {
        const asked = askedRule(options);
        if (asked !== undefined) {
          const change = { domain_id: id, ...ifRevision(options), ...write(asked.rule !== 'off', asked.entries) };
          await client.call(operationOf('set', list), change);
        }
        const { data, isOn, entries } = await readDenyList(client, list, id);
        return { data, lines: describeRule(isOn ? 'deny' : 'off', entries) };
      }),
    );
}

export async function readDenyList(client: Client, list: DenyList, id: string) {
  const data = await client.call(operationOf('get', list), { domain_id: id });
  const { isOn, entries = [] } = WIRE_DENY_LISTS[list].parse(data);
  return { data, isOn, entries };
}

type Rule = RefererSettings['mode'];

const BLANK_OF_WORD: Readonly<Record<string, '0' | '1'>> = { forbid: '0', allow: '1' };

function addRule(context: CliContext, name: string, what: string, entries: string): Command {
  return addChangeSettings(new Command(name).argument('<domain>'), context)
    .description(`show or change which ${what} a domain refuses`)
    .addOption(new Option('--off', 'turn the rule off; its list is kept').conflicts(['deny', 'allow', 'on']))
    .addOption(listOf(`--deny <${entries}>`, `${entries} to refuse`).conflicts('allow'))
    .option('--wait', WAIT_MEANING);
}

/** One value each, never several words: what follows is the domain. */
function listOf(flags: string, description: string): Option {
  return new Option(flags, `${description}; comma-separated, may be repeated`).argParser(addToList);
}

function onAgain(flags: string): Option {
  return new Option(flags, 'turn the rule on again with the stored list').conflicts('deny');
}

/** `undefined`: no change. `entries` absent: those that are stored. */
function askedRule(options: Options): { readonly rule: Rule; readonly entries?: string[] } | undefined {
  if (options['off'] === true) return { rule: 'off' };
  if (options['on'] !== undefined) return { rule: options['on'] === 'allow' ? 'allow' : 'deny' };
  const rule = (['deny', 'allow'] as const).find((name) => options[name] !== undefined);
  return rule && { rule, entries: [...listOption(options, rule)] };
}

function showReferer(data: DataOf<'config.getReferer'>): Shown {
  const blank = formatPairs([['blank', data.referer_blank === '1' ? 'allow' : 'forbid']]);
  return { data, lines: [...describeRule(REFERER_TYPES.valueOf[data.referer_type], refererEntries(data)), ...blank] };
}

export function refererEntries({ referer_str }: DataOf<'config.getReferer'>): readonly string[] {
  return referer_str === '' ? [] : referer_str.split(',');
}

function describeRule(rule: Rule, entries: readonly string[]): string[] {
  return formatPairs([['rule', rule], ...entries.map((entry): [string, string] => ['entry', entry])]);
}
