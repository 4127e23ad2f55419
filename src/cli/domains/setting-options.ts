/** Plain settings as options and lines of a command, made from the rows of `contract/settings/settings.ts`. */
import { type Command, Option } from 'commander';
import type { WireSettings } from '#contract/settings/wire-settings.ts';
import { unreachable } from '#lib/unreachable.ts';
import type { SettingTable } from '#model/settings.ts';
import { type Options, onOffOption, textOption } from '../command/options.ts';

type AnySettings = Pick<WireSettings<SettingTable, unknown>, 'rows'>;
type Row = AnySettings['rows'][number];

/** Adds an option for each setting that its own operation changes. */
export function addSettingOptions(command: Command, { rows }: AnySettings): Command {
  for (const row of rows) if (row.help !== undefined) command.addOption(optionOf(row, row.help));
  return command;
}

function optionOf(row: Row, help: string): Option {
  switch (row.kind) {
    case 'switch':
      return onOffOption(flagsOf(row), help);
    case 'seconds':
    case 'number':
    case 'text':
      return new Option(flagsOf(row), help);
    case 'choice':
      return new Option(flagsOf(row), help).choices(row.of);
    default:
      return unreachable(row);
  }
}

function flagsOf({ wire, kind, option = `--${wordsOf(wire)} <${kind}>` }: Row): string {
  return option;
}

/** The fields whose options were given, as the wire has them. */
export function givenFields({ rows }: AnySettings, options: Options): Readonly<Record<string, string>> {
  const given = rows.flatMap((row): [string, string][] => {
    const text = textOption(options, new Option(flagsOf(row)).attributeName());
    if (text === undefined) return [];
    return [[row.wire, row.kind === 'switch' ? (text === 'on' ? '1' : '0') : text]];
  });
  return Object.fromEntries(given);
}

/** A line for each of those settings. */
export function describeFields({ rows }: AnySettings, data: Readonly<Record<string, unknown>>): [string, string][] {
  const shown = rows.filter(({ help }) => help !== undefined);
  return shown.map((row) => [wordsOf(row.wire), describeValue(row, String(data[row.wire]))]);
}

function describeValue({ kind }: Row, value: string): string {
  if (kind === 'switch') return value === '1' ? 'on' : 'off';
  return kind === 'seconds' ? `${value} s` : value;
}

function wordsOf(wire: string): string {
  return wire.replaceAll('_', '-');
}
