/** `causeway db`: the whole database as a file, and a new database from one. */
import { Command } from 'commander';
import type { CliContext } from './context.ts';
import { addSettings, givenSettings, type Options } from './options.ts';

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
  return command;
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
