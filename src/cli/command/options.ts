/** Options that many commands share, and how they are read back. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CliContext, CliError, type GivenSettings } from './context.ts';

/** Settings of commands that call a service. */
export const CALL_SETTINGS = ['data-dir', 'url', 'token-file'];

/** Options as commander hands them over. */
export type Options = Readonly<Record<string, unknown>>;

/** Adds `--config` and a flag for each setting of `names`; `undefined` means for every setting. */
export function addSettings(command: Command, context: CliContext, names: readonly string[] | undefined): Command {
  command.option('--config <file>', 'settings file (default: causeway.toml, if it exists)');
  for (const { name, description } of context.settingFlags)
    if (names === undefined || names.includes(name)) command.option(`--${name} <value>`, description);
  return command;
}

export function addCallSettings(command: Command, context: CliContext): Command {
  return addSettings(command, context, CALL_SETTINGS).option('--json', 'print the answer as JSON');
}

/** Adds a command that calls a service to `group`. */
export function addCallCommand(group: Command, context: CliContext, usage: string, description: string): Command {
  return addCallSettings(group.command(usage), context).description(description);
}

/** Options of commands that change a domain. */
export function addChangeSettings(command: Command, context: CliContext): Command {
  return addIfRevision(addCallSettings(command, context), 'the settings still have this revision (printed by --json)');
}

/** `condition`: what completes "only if …". */
export function addIfRevision(command: Command, condition: string): Command {
  return command.option('--if-revision <revision>', `change only if ${condition}`);
}

/** Value of a command with `addChangeSettings`. */
export function ifRevision(options: Options): { readonly if_revision: string | undefined } {
  return { if_revision: textOption(options, 'ifRevision') };
}

/**
 * Takes settings before the name of a command too: `causeway --data-dir /srv domain list`. `group`: the program or a
 * command that has others below it. Those that every call of a service takes are shown in its help.
 */
export function addLeadingSettings(group: Command, context: CliContext): void {
  group.enablePositionalOptions(); // what stands after a command's name is that command's
  const flags = [{ name: 'config', description: 'settings file' }, ...context.settingFlags];
  const shown = group.parent === null ? ['config', ...CALL_SETTINGS] : [];
  for (const { name, description } of flags)
    group.addOption(new Option(`--${name} <value>`, description).hideHelp(!shown.includes(name)));
}

/**
 * Passes settings before the command's name to it; its own take precedence. Throws `CliError` for one that it does not
 * take.
 */
export function takeLeadingSettings(command: Command): void {
  for (let group = command.parent; group !== null; group = group.parent)
    for (const [key, value] of Object.entries(group.opts())) {
      const option = command.options.find((candidate) => candidate.attributeName() === key);
      if (option === undefined) {
        const name = group.options.find((candidate) => candidate.attributeName() === key)?.long;
        throw new CliError(`${command.name()} has no option ${name}; see --help`);
      }
      if (command.getOptionValueSource(key) !== 'cli') command.setOptionValueWithSource(key, value, 'cli');
    }
}

export function givenSettings(context: CliContext, options: Options): GivenSettings {
  const given = context.settingFlags.flatMap(({ key, name }) => {
    const value = options[key];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { flags: Object.fromEntries(given), file: textOption(options, 'config') };
}

export function onOffOption(flags: string, description: string): Option {
  return new Option(flags, description).choices(['on', 'off']);
}

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function listOption(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.map(String) : [];
}

/** Parser for `argParser`: `cdn,sms` → `['cdn', 'sms']`. */
export function splitList(text: string): string[] {
  return text.split(',').flatMap((part) => part.trim() || []);
}

/**
 * Parser for `argParser` of an option that may be given several times, each time with one value or with several between
 * commas.
 */
export function addToList(text: string, before: readonly string[] = []): string[] {
  return [...before, ...splitList(text)];
}

/** Parser for `argParser` of an option that may be given several times, whose values may contain commas. */
export function addWhole(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** Parser for `argParser`: a number of the interface, which checks its range. */
export function parseWholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected an integer.');
  return Number(text);
}
