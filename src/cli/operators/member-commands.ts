/** `causeway member`: the members of the account of the access token in use. */
import { Command } from 'commander';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { addCallCommand, givenSettings, type Options, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { printer } from '../command/run-operation.ts';
import { timeTexts } from '../command/times.ts';
import { linkLines, ROLE_WORDS } from './person-commands.ts';

export function memberCommand(context: CliContext): Command {
  const command = new Command('member').description('manage the members of the account of the access token in use');
  addCallCommand(command, context, 'list', 'list members and invitations').action(async (options: Options) => {
    const data = await clientOf(context, options).call('member.list', {});
    const { ofSeconds } = timeTexts(context, options);
    const ofMs = (at: number) => ofSeconds(Math.floor(at / 1000));
    const members = data.list.map((one) => [one.person_id, one.role, one.email, ofMs(one.created_at), '-', one.name]);
    const invited = data.invitations.map((one) => ['-', one.role, one.email, '-', one.invitation_id, '']);
    printer(context, options)(data, formatTable([COLUMNS, ...members, ...invited]));
  });
  addCallCommand(command, context, 'invite <email>', 'make a link with which somebody becomes a member')
    .requiredOption('--role <role>', `role of the member: ${ROLE_WORDS}`)
    .action(async (email: string, options: Options) => {
      const request = { email, role: textOption(options, 'role') ?? '' };
      const data = await clientOf(context, options).call('member.invite', request);
      printer(context, options)(data, linkLines(data, timeTexts(context, options)));
    });
  addCallCommand(command, context, 'role <person> <role>', 'change the role of a member').action(
    async (person: string, role: string, options: Options) => {
      const data = await clientOf(context, options).call('member.setRole', { person_id: person, role });
      printer(context, options)(data, [`member ${person}: ${role}`]);
    },
  );
  addCallCommand(command, context, 'remove <person>', 'remove a member').action(
    async (person: string, options: Options) => {
      const data = await clientOf(context, options).call('member.remove', { person_id: person });
      printer(context, options)(data, [`member ${person} removed`]);
    },
  );
  addCallCommand(command, context, 'withdraw <invitation>', 'withdraw an invitation').action(
    async (invitation: string, options: Options) => {
      const data = await clientOf(context, options).call('member.remove', { invitation_id: invitation });
      printer(context, options)(data, [`invitation ${invitation} withdrawn`]);
    },
  );
  addCallCommand(command, context, 'reset <person>', 'make a link with which a member sets a new password').action(
    async (person: string, options: Options) => {
      const data = await clientOf(context, options).call('member.resetPassword', { person_id: person });
      printer(context, options)(data, linkLines(data, timeTexts(context, options)));
    },
  );
  addCallCommand(
    command,
    context,
    'second-factor <switch>',
    'let members sign in with a second factor only: on, or off',
  ).action(async (asked: string, options: Options) => {
    if (asked !== 'on' && asked !== 'off') throw new CliError(`expected on or off, not ${asked}`);
    const required = asked === 'on' ? 1 : 0;
    const data = await clientOf(context, options).call('member.setSecondFactor', { required });
    printer(context, options)(data, [`second factor ${asked}`]);
  });
  return command;
}

const COLUMNS = ['PERSON', 'ROLE', 'EMAIL', 'SINCE', 'INVITATION', 'NAME'];

function clientOf(context: CliContext, options: Options) {
  return connectCustomer(context, givenSettings(context, options));
}
