/** `causeway group`: groups of edges. */
import { Command } from 'commander';
import type { Client } from '#client/transport.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { addCallCommand, type Options, textOption } from '../command/options.ts';
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
        group.parent || '-',
        String(group.domains),
        String(group.edges),
      ]);
      print(list, formatTable([['NAME', 'DEFAULT', 'PARENT', 'DOMAINS', 'EDGES'], ...rows]));
    }),
  );
  for (const [name, description, done] of [
    ['create', 'add a group of edges', 'added'],
    ['set', 'set whether a group serves domains without groups of their own, and its parent', 'set'],
  ] as const)
    addCallCommand(command, context, `${name} <group>`, description)
      .option(
        '--default',
        'serve domains that have no groups of their own; edges of a group that changes this fetch all settings anew',
      )
      .option('--parent <group>', 'group that its edges fetch through; whether the group is a default one then stays')
      .option('--no-parent', 'let its edges fetch from origins')
      .action((group: string, options: Options) =>
        run(context, options, async (client, print) => {
          const present = await expectGroup(client, group, name === 'set');
          const parent = options['parent'] === false ? '' : textOption(options, 'parent');
          const isDefault = options['default'] === true || (parent !== undefined && present?.default === '1');
          const request = { name: group, default: isDefault ? '1' : '0' } as const;
          const data = await client.call('groupOperator.set', { ...request, ...(parent !== undefined && { parent }) });
          print(data, [`group ${group} ${done}`]);
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

/** The operation adds a group or changes it; a person means one of the two. Returns the group if it is there. */
async function expectGroup(client: Client, name: string, isPresent: boolean) {
  const { list } = await client.call('groupOperator.list', {});
  const found = list.find((group) => group.name === name);
  if ((found !== undefined) === isPresent) return found;
  throw new CliError(
    isPresent
      ? `there is no group ${name}; add it with "causeway group create"`
      : `the group ${name} exists already; change it with "causeway group set"`,
  );
}
