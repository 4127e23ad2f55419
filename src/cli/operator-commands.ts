/** `causeway operator domain`: what the people who run the service do with the domains of customers. */
import { Command } from 'commander';
import { run } from './account-commands.ts';
import type { CliContext } from './context.ts';
import { addCallSettings, type Options } from './options.ts';

const STATUS_COMMANDS = [
  ['disable', '6', 'disable a domain: its viewers are refused and its customer cannot open it', 'disabled'],
  ['enable', '2', 'approve a domain, or end its being disabled', 'enabled'],
  ['reject', '5', 'reject a domain in review', 'rejected'],
] as const;

export function operatorCommand(context: CliContext): Command {
  const command = new Command('operator').description('for the people who run the service');
  const domain = command.command('domain').description("customers' domains");
  addCallSettings(domain.command('transfer <account> <domain> <to-account>'), context)
    .description('move a domain to another account')
    .action((account: string, id: string, to: string, options: Options) =>
      run(context, options, async (client, print) => {
        const request = { account_id: account, domain_id: id, to_account_id: to };
        print(await client.call('operator.transferDomain', request), [`domain ${id} belongs to account ${to}`]);
      }),
    );
  for (const [name, code, description, done] of STATUS_COMMANDS)
    addCallSettings(domain.command(`${name} <account> <domain>`), context)
      .description(description)
      .action((account: string, id: string, options: Options) =>
        run(context, options, async (client, print) => {
          const request = { account_id: account, domain_id: id, domain_status: code };
          print(await client.call('operator.setDomainStatus', request), [`domain ${id} is ${done}`]);
        }),
      );
  return command;
}
