/** `causeway group`: groups of edges. */
import { Command } from 'commander';
import type { Client } from '#client/transport.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { addCallCommand, type Options } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { run } from '../command/run-operation.ts';

export function groupCommand(context: CliContext): Command {
  const command = new Command('group').description('manage groups of edges');
  addCallCommand(command, context, 'list', 'list groups of edges').action((options: Options) =>
    run(context, options, async (client, print) => {
      const { list } = await client.call('groupOperator.list', {});
      const rows = list.map((group) => [
        group.name,
        group.default === '1' ? 'yes' : 'no',
        String(group.domains),
        String(group.edges),
      ]);
      print(list, formatTable([['NAME', 'DEFAULT', 'DOMAINS', 'EDGES'], ...rows]));
    }),
  );
  for (const [name, description, done] of [
    ['create', 'add a group of edges', 'added'],
    ['set', 'set whether a group serves domains without groups of their own', 'set'],
  ] as const)
    addCallCommand(command, context, `${name} <group>`, description)
      .option(
        '--default',
        'serve domains that have no groups of their own; edges of a group that changes this fetch all settings anew',
      )
      .action((group: string, options: Options) =>
        run(context, options, async (client, print) => {
          await expectGroup(client, group, name === 'set');
          const request = { name: group, default: options['default'] === true ? '1' : '0' } as const;
          print(await client.call('groupOperator.set', request), [`group ${group} ${done}`]);
        }),
      );
  addCallCommand(command, context, 'remove <group>', 'remove a group that has no edges and no domains').action(
    (group: string, options: Options) =>
      run(context, options, async (client, print) => {
        print(await client.call('groupOperator.remove', { name: group }), [`group ${group} removed`]);
      }),
  );
  return command;
}

/** The operation adds a group or changes it; a person means one of the two. */
async function expectGroup(client: Client, name: string, isPresent: boolean): Promise<void> {
  const { list } = await client.call('groupOperator.list', {});
  if (list.some((group) => group.name === name) === isPresent) return;
  throw new CliError(
    isPresent
      ? `there is no group ${name}; add it with "causeway group create"`
      : `the group ${name} exists already; change it with "causeway group set"`,
  );
}
