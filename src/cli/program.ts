/** The command line: which commands there are, and how their errors reach the person. */
import { Command, CommanderError } from 'commander';
import { type CliContext, CliError } from './command/context.ts';
import {
  addLeadingSettings,
  addSettings,
  givenSettings,
  type Options,
  takeLeadingSettings,
} from './command/options.ts';
import { formatTable } from './command/output.ts';

type OnExitCode = (code: number) => void;
type Create = (context: CliContext, onExitCode: OnExitCode) => Command;

/**
 * The commands, in the order of the help. One that is named first is loaded alone: most carry the contract, whose schemas
 * the service's own start need not wait for.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Create>>> = {
  serve: async () => serveCommand,
  restart: async () => (await import('./machine/restart-command.ts')).restartCommand,
  config: async () => configCommand,
  doctor: async () => (await import('./machine/doctor-command.ts')).doctorCommand,
  install: async () => (await import('./machine/install-command.ts')).installCommand,
  account: async () => (await import('./operators/account-commands.ts')).accountCommand,
  token: async () => (await import('./operators/token-commands.ts')).tokenCommand,
  person: async () => (await import('./operators/person-commands.ts')).personCommand,
  member: async () => (await import('./operators/member-commands.ts')).memberCommand,
  domain: async () => (await import('./domains/domain-commands.ts')).domainCommand,
  apply: async () => (await import('./domains/domain-file-commands.ts')).applyCommand,
  certificate: async () => (await import('./domains/certificate-commands.ts')).certificateCommand,
  'address-list': async () => (await import('./domains/address-list-commands.ts')).addressListCommand,
  cache: async () => (await import('./domains/cache-commands.ts')).cacheCommand,
  traffic: async () => (await import('./domains/traffic-commands.ts')).trafficCommand,
  log: async () => (await import('./domains/log-commands.ts')).logCommand,
  live: async () => (await import('./live/live-commands.ts')).liveCommand,
  sms: async () => (await import('./sms/sms-commands.ts')).smsCommand,
  audit: async () => (await import('./domains/audit-commands.ts')).auditCommand,
  operator: async () => (await import('./operators/operator-commands.ts')).operatorCommand,
  keyring: async () => (await import('./operators/keyring-commands.ts')).keyringCommand,
  edge: async () => (await import('./operators/edge-commands.ts')).edgeCommand,
  fleet: async () => (await import('./operators/edge-commands.ts')).fleetCommand,
  group: async () => (await import('./operators/group-commands.ts')).groupCommand,
  sink: async () => (await import('./operators/sink-commands.ts')).sinkCommand,
  dns: async () => (await import('./machine/dns-commands.ts')).dnsCommand,
  events: async () => (await import('./operators/event-commands.ts')).eventsCommand,
  explain: async () => (await import('./domains/explain-command.ts')).explainCommand,
  db: async () => (await import('./machine/database-commands.ts')).databaseCommand,
  call: async () => (await import('./machine/call-command.ts')).callCommand,
};

/** Runs one command and returns the exit code. `complain` gets lines for standard error. */
export async function runCommand(
  context: CliContext,
  args: readonly string[],
  complain: (line: string) => void,
): Promise<number> {
  let exitCode = 0;
  let ran: Command | undefined;
  const onExitCode = (code: number) => {
    exitCode = code;
  };
  const program = await createProgram(context, args[0], { complain, onExitCode });
  program.hook('preAction', (_, command) => {
    ran = command;
    takeLeadingSettings(command);
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const message = error instanceof CliError ? error.message : await describeCallError(error, ran);
    for (const line of message.split('\n')) complain(`causeway: ${line}`);
    return 1;
  }
}

/** Returns the message of an error of a call to the service; rethrows others. */
async function describeCallError(error: unknown, command: Command | undefined): Promise<string> {
  const { ClientError } = await import('#client/client-error.ts');
  if (!(error instanceof ClientError)) throw error;
  const { describeError } = await import('#contract/errors/service-error.ts');
  const { inCommands } = await import('./command/command-words.ts');
  // Plain HTTP on a port for HTTPS is refused before the language of the request is read.
  return inCommands(error.code === 'plainHttp' ? describeError(error.code, {}, 'en') : error.message, command);
}

/** `first`: the first word of the command line. */
async function createProgram(
  context: CliContext,
  first: string | undefined,
  { complain, onExitCode }: { readonly complain: (text: string) => void; readonly onExitCode: OnExitCode },
): Promise<Command> {
  const program = new Command('causeway')
    .description('content delivery network and SMS service')
    .version(context.version);
  const named = first !== undefined && Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  for (const load of named === undefined ? Object.values(COMMANDS) : [named])
    program.addCommand((await load())(context, onExitCode));
  const outputs = { writeOut: context.write, writeErr: (text: string) => complain(text.replace(/\n$/, '')) };
  for (const command of allCommands(program)) {
    command.configureOutput(outputs).exitOverride().showHelpAfterError('(see --help for usage)');
    if (command.commands.length > 0) addLeadingSettings(command, context);
  }
  return program;
}

function serveCommand(context: CliContext, onExitCode: OnExitCode): Command {
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
