/** The commands that there are, as their help lists them. */
import assert from 'node:assert/strict';
import type { CliContext } from '#cli/command/context.ts';
import { runCommand } from '#cli/program.ts';

/** Paths such as `domain add`, without `causeway`; groups are among them. */
export async function listCommands(path: readonly string[] = []): Promise<readonly string[]> {
  let help = '';
  const write = (text: string) => {
    help += text;
  };
  const context = { version: '', settingFlags: [], write } as unknown as CliContext; // help asks for nothing else
  await runCommand(context, [...path, '--help'], (line) => assert.fail(line));
  const [, list = ''] = help.split('\nCommands:\n');
  const names = [...list.matchAll(/^ {2}([\w-]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
  const below = await Promise.all(names.map((name) => listCommands([...path, name])));
  return names.flatMap((name, n) => [[...path, name].join(' '), ...(below[n] ?? [])]);
}
