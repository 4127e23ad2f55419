/** `causeway account`: for the operator of this machine, whether the service runs or not. */
import { Command } from 'commander';
import { readAllPages } from './all-pages.ts';
import type { CliContext } from './context.ts';
import { addCallCommand, type Options } from './options.ts';
import { formatTable } from './output.ts';
import { run } from './run-operation.ts';
import { timeTexts } from './times.ts';

export function accountCommand(context: CliContext): Command {
  const command = new Command('account').description('manage the accounts of customers and operators');
  addCallCommand(command, context, 'create <name>', 'create an account')
    .option('--operator', 'create an operator account instead of a customer account')
    .action((name: string, options: Options) =>
      run(context, options, async (client, print) => {
        const kind = options['operator'] === true ? 'operator' : 'customer';
        const data = await client.call('operator.createAccount', { name, kind });
        print(data, [`account ${data.account_id}`]);
      }),
    );
  addCallCommand(command, context, 'list', 'list all accounts').action((options: Options) =>
    run(context, options, async (client, print) => {
      const accounts = await readAllPages((page) => client.call('operator.listAccounts', page));
      const { ofLocal } = timeTexts(context, options);
      const rows = accounts.map((one) => [one.account_id, one.kind, ofLocal(one.create_time), one.name]);
      print(accounts, formatTable([['ID', 'KIND', 'CREATED', 'NAME'], ...rows]));
    }),
  );
  for (const [name, description, enabled] of STATUS_COMMANDS)
    addCallCommand(command, context, `${name} <account>`, description).action((account: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('operator.setAccountStatus', { account_id: account, enabled });
        print(data, [`account ${account} ${name}d`]);
      }),
    );
  return command;
}

const STATUS_COMMANDS = [
  ['disable', 'reject the tokens of an account; its domains stay in service', 0],
  ['enable', 'accept the tokens of a disabled account again', 1],
] as const;
