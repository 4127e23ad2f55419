/** `causeway domain referer`, `ua` and `ip`: the access rules. Without a change they show the current setting. */
import { Command, Option } from 'commander';
import type { Client } from '#client/client.ts';
import type { DataOf } from '#contract/operations.ts';
import type { DenyList } from '#model/domain.ts';
import type { CliContext } from './context.ts';
import { onDomain, type Shown, WAIT_MEANING } from './on-domain.ts';
import { addChangeSettings, addToList, ifRevision, listOption, type Options, textOption } from './options.ts';
import { formatPairs } from './output.ts';

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
          referer_type: asked === undefined ? now.referer_type : TYPE_OF_RULE[asked.rule],
          referer_blank: blank === undefined ? now.referer_blank : BLANK_OF_WORD[blank],
          referer_str: asked?.entries,
          if_revision: textOption(options, 'ifRevision') ?? now.revision,
        });
        return showReferer(await client.call('config.getReferer', { domain_id: id }));
      }),
    );
}

interface ListCommand {
  readonly name: string;
  /** Completes "show or change which … a domain refuses". */
  readonly what: string;
  readonly entries: string;
  read(client: Client, id: string): Promise<ShownList>;
  change(client: Client, change: ListChange): Promise<unknown>;
}

interface ShownList {
  readonly data: unknown;
  readonly isOn: boolean;
  readonly list: string;
}

interface ListChange {
  readonly domain_id: string;
  readonly if_revision?: string | undefined;
  readonly isOn: boolean;
  /** Absent: those that are stored. */
  readonly entries: string[] | undefined;
}

/** Lists of what is refused, in the order of the commands. */
export const LIST_COMMANDS: readonly ListCommand[] = Object.values({
  userAgent: {
    name: 'ua',
    what: 'User-Agents',
    entries: 'entries',
    read: async (client, domain_id) => {
      const data = await client.call('config.getUserAgent', { domain_id });
      return { data, isOn: data.ua_control === '1', list: data.ua_str };
    },
    change: (client, { isOn, entries, ...change }) =>
      client.call('config.setUserAgent', { ...change, ua_control: isOn ? '1' : '0', ua_str: entries }),
  },
  ip: {
    name: 'ip',
    what: 'client addresses and networks',
    entries: 'addresses',
    read: async (client, domain_id) => {
      const data = await client.call('config.getIp', { domain_id });
      return { data, isOn: data.ip_type === 1, list: data.ip_str };
    },
    change: (client, { isOn, entries, ...change }) =>
      client.call('config.setIp', { ...change, ip_type: isOn ? 1 : 0, ip_str: entries }),
  },
} satisfies Readonly<Record<DenyList, ListCommand>>);

export function listCommands(context: CliContext): Command[] {
  return LIST_COMMANDS.map(({ name, what, entries, read, change }) =>
    addRule(context, name, what, entries)
      .addOption(onAgain('--on'))
      .action((domain: string, options: Options) =>
        onDomain(context, domain, options, async (client, id) => {
          const asked = askedRule(options);
          if (asked !== undefined)
            await change(client, {
              domain_id: id,
              isOn: asked.rule !== 'off',
              entries: asked.entries,
              ...ifRevision(options),
            });
          const { data, isOn, list } = await read(client, id);
          return { data, lines: describeRule(isOn ? 'deny' : 'off', list) };
        }),
      ),
  );
}

type Rule = 'off' | 'deny' | 'allow';

const TYPE_OF_RULE = { off: '0', deny: '1', allow: '2' } as const satisfies Readonly<Record<Rule, string>>;
export const RULE_OF_TYPE = { '0': 'off', '1': 'deny', '2': 'allow' } as const;
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
  return { data, lines: [...describeRule(RULE_OF_TYPE[data.referer_type], data.referer_str), ...blank] };
}

function describeRule(rule: Rule, list: string): string[] {
  const entries = list === '' ? [] : list.split(',');
  return formatPairs([['rule', rule], ...entries.map((entry): [string, string] => ['entry', entry])]);
}
