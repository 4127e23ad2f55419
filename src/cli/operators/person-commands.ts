/** `causeway person`: people of all accounts, for the operator of this machine, whether the service runs or not. */
import { Command } from 'commander';
import type { DataOf } from '#contract/operations.ts';
import { readAllPages } from '../command/all-pages.ts';
import type { CliContext } from '../command/context.ts';
import { addCallCommand, type Options, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { run } from '../command/run-operation.ts';
import { type TimeTexts, timeTexts } from '../command/times.ts';

export function personCommand(context: CliContext): Command {
  const command = new Command('person').description('manage the people who sign in to the console');
  addCallCommand(command, context, 'create <email>', 'create a person as a member of an account, or add one to it')
    .requiredOption('--account <account>', 'account that the person becomes a member of')
    .requiredOption('--role <role>', `role there: ${ROLE_WORDS}`)
    .option('--name <text>', 'name of the person')
    .action((email: string, options: Options) =>
      run(context, options, async (client, print) => {
        const [account_id, role] = [textOption(options, 'account') ?? '', textOption(options, 'role') ?? ''];
        const request = { email, account_id, role, name: textOption(options, 'name') };
        const data = await client.call('operator.createPerson', request);
        const lines = [`person ${data.person_id}`];
        print(data, data.link === '' ? lines : [...lines, ...linkLines(data, timeTexts(context, options))]);
      }),
    );
  addCallCommand(command, context, 'reset <person>', 'make a link with which a person sets a new password')
    .option('--second-factor', 'with the new password, remove TOTP, passkeys and recovery codes, too')
    .action((person: string, options: Options) =>
      run(context, options, async (client, print) => {
        const request = { person_id: person, second_factor: options['secondFactor'] === true ? 1 : 0 } as const;
        const data = await client.call('operator.resetPerson', request);
        print(data, linkLines(data, timeTexts(context, options)));
      }),
    );
  addCallCommand(command, context, 'list', 'list all people')
    .option('--text <text>', 'show only people with this in the name or the address')
    .action((options: Options) =>
      run(context, options, async (client, print) => {
        const text = textOption(options, 'text');
        const people = await readAllPages((page) => client.call('operator.listPersons', { ...page, text }));
        const times = timeTexts(context, options);
        print(people, formatTable([COLUMNS, ...people.map((person) => personRow(person, times))]));
      }),
    );
  for (const [name, description, enabled] of STATUS_COMMANDS)
    addCallCommand(command, context, `${name} <person>`, description).action((person: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('operator.setPersonStatus', { person_id: person, enabled });
        print(data, [`person ${person} ${name}d`]);
      }),
    );
  return command;
}

export const ROLE_WORDS = 'viewer, editor, billing or owner; in an account of operators viewer, operator or admin';

/** A link, on a line of its own. */
export function linkLines(
  { link, expires_at }: DataOf<'operator.resetPerson'>,
  { ofSeconds }: TimeTexts,
): readonly string[] {
  return [link, `good once, until ${ofSeconds(Math.floor(expires_at / 1000))}`];
}

const STATUS_COMMANDS = [
  ['disable', 'keep a person from signing in, and end the sessions', 0],
  ['enable', 'let a disabled person sign in again', 1],
] as const;

const COLUMNS = ['ID', 'EMAIL', 'SECOND', 'SEEN', 'DISABLED', 'ACCOUNTS', 'NAME'];

function personRow(person: DataOf<'operator.listPersons'>['list'][number], { ofSeconds }: TimeTexts): string[] {
  const accounts = person.memberships.map(({ account_id, role }) => `${account_id}:${role}`).join(',');
  const yesOrNo = (flag: '0' | '1') => (flag === '1' ? 'yes' : 'no');
  return [
    person.person_id,
    person.email,
    yesOrNo(person.has_second_factor),
    ofSeconds(Math.floor(person.seen_at / 1000)),
    yesOrNo(person.disabled),
    accounts === '' ? '-' : accounts,
    person.name,
  ];
}
