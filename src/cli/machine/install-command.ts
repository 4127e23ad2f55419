/** `causeway install`: makes a service of this release, with a user and units of systemd. */
import { Command } from 'commander';
import type { CliContext } from '../command/context.ts';
import { addSettings, type Options, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';

export function installCommand(context: CliContext): Command {
  return addSettings(new Command('install'), context, [])
    .option('--root <dir>', 'install into this folder, as for a package: no user is made and systemd is not called')
    .option('--no-socket', 'let the service open ports 80 and 443 itself, instead of systemd')
    .description('install this release as a service of systemd, or bring an installation up to date; needs root')
    .action(async (options: Options) => {
      const order = { root: textOption(options, 'root'), hasSocket: options['socket'] !== false };
      const { pieces, next } = await context.install(order);
      for (const line of formatTable(pieces.map(({ state, what }) => [state, what]))) context.print(line);
      if (pieces.every(({ state }) => state === 'kept')) context.print('nothing has changed');
      for (const line of next) context.print(line);
    });
}
