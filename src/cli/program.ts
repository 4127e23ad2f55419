/** The command line: which commands there are, and how their errors reach the person. */
import { Command, CommanderError } from 'commander';
import { ClientError } from '#client/client.ts';
import { describeError } from '#contract/service-error.ts';
import { accountCommand, tokenCommand } from './account-commands.ts';
import { cacheCommand } from './cache-commands.ts';
import { callCommand } from './call-command.ts';
import { certificateCommand } from './certificate-commands.ts';
import { inCommands } from './command-words.ts';
import { type CliContext, CliError } from './context.ts';
import { databaseCommand } from './database-commands.ts';
import { doctorCommand } from './doctor-command.ts';
import { domainCommand } from './domain-commands.ts';
import { edgeCommand, fleetCommand } from './edge-commands.ts';
import { explainCommand } from './explain-command.ts';
import { groupCommand } from './group-commands.ts';
import { installCommand } from './install-command.ts';
import { keyringCommand } from './keyring-commands.ts';
import { liveCommand } from './live-commands.ts';
import { operatorCommand } from './operator-commands.ts';
import { addLeadingSettings, addSettings, givenSettings, type Options, takeLeadingSettings } from './options.ts';
import { formatTable } from './output.ts';
import { restartCommand } from './restart-command.ts';
import { smsCommand } from './sms-commands.ts';
import { trafficCommand } from './traffic-commands.ts';

/** Runs one command and returns the exit code. `complain` gets lines for standard error. */
export async function runCommand(
  context: CliContext,
  args: readonly string[],
  complain: (line: string) => void,
): Promise<number> {
  let exitCode = 0;
  let ran: Command | undefined;
  const program = createProgram(context, complain, (code) => {
    exitCode = code;
  });
  program.hook('preAction', (_, command) => {
    ran = command;
    takeLeadingSettings(command);
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    if (!(error instanceof CliError) && !(error instanceof ClientError)) throw error;
    const message = error instanceof ClientError ? inCommands(messageOf(error), ran) : error.message;
    for (const line of message.split('\n')) complain(`causeway: ${line}`);
    return 1;
  }
}

/** Plain HTTP on a port for HTTPS is refused before the language of the request is read. */
function messageOf({ code, message }: ClientError): string {
  return code === 'plainHttp' ? describeError(code, {}, 'en') : message;
}

function createProgram(
  context: CliContext,
  complain: (text: string) => void,
  onExitCode: (code: number) => void,
): Command {
  const program = new Command('causeway')
    .description('content delivery network and SMS service')
    .version(context.version);
  const commands = [
    serveCommand(context, onExitCode),
    restartCommand(context),
    configCommand(context),
    doctorCommand(context, onExitCode),
    installCommand(context),
    accountCommand(context),
    tokenCommand(context),
    domainCommand(context),
    certificateCommand(context),
    cacheCommand(context),
    trafficCommand(context),
    liveCommand(context),
    smsCommand(context),
    operatorCommand(context),
    keyringCommand(context),
    edgeCommand(context),
    fleetCommand(context),
    groupCommand(context),
    explainCommand(context),
    databaseCommand(context),
    callCommand(context),
  ];
  for (const command of commands) program.addCommand(command);
  const outputs = { writeOut: context.write, writeErr: (text: string) => complain(text.replace(/\n$/, '')) };
  for (const command of allCommands(program)) {
    command.configureOutput(outputs).exitOverride().showHelpAfterError('(see --help for usage)');
    if (command.commands.length > 0) addLeadingSettings(command, context);
  }
  return program;
}

function serveCommand(context: CliContext, onExitCode: (code: number) => void): Command {
  return addSettings(new Command('serve'), context, undefined)
    .description('run the service until it is stopped')
    .action(async (options: Options) => onExitCode(await context.serve(givenSettings(context, options))));
}

function configCommand(context: CliContext): Command {
  return addSettings(new Command('config'), context, undefined)
    .description('show the settings a service started here would use, and the source of each')
    .option('--json', 'print them as JSON')
    .action((options: Options) => {
      const settings = context.showSettings(givenSettings(context, options));
      if (options['json'] === true) context.print(JSON.stringify(settings, undefined, 2));
      else {
        const rows = settings.map(({ name, value, source }) => [name, value === '' ? '-' : value, source]);
        for (const line of formatTable([['SETTING', 'VALUE', 'SOURCE'], ...rows])) context.print(line);
      }
    });
}

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}
