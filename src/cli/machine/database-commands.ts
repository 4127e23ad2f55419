/** `causeway db`: the whole database as a file, and a new database from one; backups and their trial. */
import { Command } from 'commander';
import { type CliContext, CliError } from '../command/context.ts';
import { addSettings, givenSettings, type Options, textOption } from '../command/options.ts';

const SETTINGS = ['data-dir', 'keyring'];

export function databaseCommand(context: CliContext): Command {
  const command = new Command('db').description(
    'export or import the whole database, for backups and to change the engine',
  );
  addSettings(command.command('export <file>'), context, SETTINGS)
    .description('write every row to a file, or to standard output (-); the service may be running')
    .option(
      '--with-secrets',
      'include private keys and passwords, encrypted as stored; only the key ring decrypts them',
    )
    .action((file: string, options: Options) => exportTo(context, file, options));
  addSettings(command.command('import <file>'), context, SETTINGS)
    .description('create a new database from an export, or from standard input (-); the service must be stopped')
    .action((file: string, options: Options) => importFrom(context, file, options));
  addSettings(command.command('backup'), context, [...SETTINGS, 'backup-directory', 'backup-keep'])
    .description('export to a new file in the backup directory, with sealed secrets, and remove the oldest ones')
    .option('--verify', 'also try the new file, as "causeway db verify" does, before any is removed')
    .action((options: Options) => backUp(context, options));
  addSettings(command.command('verify <file>'), context, SETTINGS)
    .description('restore an export into a new database, compare every row, and remove that database again')
    .option('--scratch <dir>', 'where that database is made; by default in the folder of the file')
    .option('--json', 'print the result as JSON')
    .action((file: string, options: Options) => verify(context, file, options));
  return command;
}

async function backUp(context: CliContext, options: Options): Promise<void> {
  const isVerified = options['verify'] === true;
  const { rows, file, removed } = await context.backUpDatabase(givenSettings(context, options), isVerified);
  context.print(`exported ${rows} rows to ${file}${isVerified ? ', and restored it to try it' : ''}`);
  for (const name of removed) context.print(`removed ${name}`);
  context.print('keep a copy of it on another machine, and the key ring in another place');
}

async function verify(context: CliContext, file: string, options: Options): Promise<void> {
  const result = await context.verifyDatabase(givenSettings(context, options), file, textOption(options, 'scratch'));
  const { rows, tables, exportedAt, withoutSecret, secrets, areOpened, differences } = result;
  if (options['json'] === true) context.print(JSON.stringify(result, undefined, 2));
  if (differences.length > 0)
    throw new CliError(['the restored database is not that of the file:', ...differences].join('\n'));
  if (options['json'] === true) return;
  context.print(`restored ${rows} rows of ${tables} tables, as of ${new Date(exportedAt).toISOString()}; none differs`);
  if (withoutSecret > 0) context.print(`${withoutSecret} of them have no secret, since the export left it out`);
  if (secrets === 0) return;
  context.print(
    areOpened
      ? `the key ring opens each of its ${secrets} secrets`
      : `its ${secrets} secrets were not tried, since there is no key ring here: name it with --keyring`,
  );
}

async function exportTo(context: CliContext, file: string, options: Options): Promise<void> {
  const withSecrets = options['withSecrets'] === true;
  const { rows, withoutSecret } = await context.exportDatabase(givenSettings(context, options), file, withSecrets);
  if (file === '-') return; // it is what was asked for, and nothing else belongs into it
  context.print(`exported ${rows} rows to ${file}`);
  if (withoutSecret > 0)
    context.print(`${withoutSecret} of them without their secret; use --with-secrets to include it`);
  if (withSecrets)
    context.print(
      'its secrets can be decrypted only with the key ring; keep a copy of the key ring in a separate place',
    );
}

async function importFrom(context: CliContext, file: string, options: Options): Promise<void> {
  const summary = await context.importDatabase(givenSettings(context, options), file);
  context.print(`imported ${summary.rows} rows`);
  if (summary.withoutSecretCount === 0) return;
  context.print(`${summary.withoutSecretCount} of them have no secret; enter it again for:`);
  for (const what of summary.withoutSecret) context.print(`  ${what}`);
  if (summary.withoutSecretCount > summary.withoutSecret.length) context.print('  …');
}
