/** `causeway keyring`: the keys that stored secrets are sealed with. */
import { Command } from 'commander';
import type { CliContext } from '../command/context.ts';
import { addCallCommand, type Options } from '../command/options.ts';
import { run } from '../command/run-operation.ts';

export function keyringCommand(context: CliContext): Command {
  const command = new Command('keyring').description('manage the keys that encrypt stored secrets');
  addCallCommand(
    command,
    context,
    'rotate',
    'add a new key and re-encrypt the data keys of all stored secrets with it; old keys stay in the ring',
  ).action((options: Options) =>
    run(context, options, async (client, print) => {
      const data = await client.call('operator.rotateKeyring', {});
      const unopened =
        data.unopened === 0 ? [] : [`${data.unopened} secrets could not be decrypted and were left unchanged`];
      print(data, [`key ${data.key_id}`, `${data.secrets} secrets re-encrypted`, ...unopened]);
    }),
  );
  return command;
}
