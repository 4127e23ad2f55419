/**
 * `causeway restart`: new edge workers and a new live process in place of the present ones, asked of the supervisor of
 * this machine.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { askLocal } from '../command/ask-local.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { addSettings, givenSettings, type Options } from '../command/options.ts';

/** Answer of the supervisor. */
export type RestartAnswer =
  | {
      readonly kind: 'restarted';
      /** Names of changed settings that are in force now. */
      readonly taken: readonly string[];
      /** Names of changed settings that need a restart of the service. */
      readonly pending: readonly string[];
    }
  /** Nothing has changed; the question may be asked again. */
  | { readonly kind: 'busy'; readonly why: keyof typeof WAITS }
  /** Nothing has changed. `problems` are lines for people. */
  | { readonly kind: 'failed'; readonly problems: readonly string[] };

const WAITS = {
  draining: 'two earlier generations still have connections; waiting for the oldest (--force cuts its connections)',
  restarting: 'waiting for another restart',
} as const;

/** Pause between two questions while an earlier generation drains. */
const POLL_MS = 1_000;

export function restartCommand(context: CliContext): Command {
  return addSettings(new Command('restart'), context, ['data-dir'])
    .option('--force', 'cut the connections of the oldest generation if two earlier ones still have some')
    .option('--json', 'print the answer as JSON')
    .description(
      'replace the edge workers and the live process of this machine without losing a request, with changed settings',
    )
    .action((options: Options) => restart(context, options));
}

async function restart(context: CliContext, options: Options): Promise<void> {
  const { dataDir } = context.loadSettings(givenSettings(context, options));
  const isJson = options['json'] === true;
  for (let waits = 0; ; waits++) {
    const answer = await ask(context, dataDir, options['force'] === true);
    switch (answer.kind) {
      case 'failed':
        throw new CliError(answer.problems.join('\n'));
      case 'busy':
        if (waits === 0 && !isJson) context.print(WAITS[answer.why]);
        await delay(POLL_MS);
        break;
      case 'restarted':
        return isJson ? context.print(JSON.stringify(answer)) : show(context, answer);
    }
  }
}

async function ask(context: CliContext, dataDir: string, isForced: boolean): Promise<RestartAnswer> {
  const answer = await askLocal(context.supervisorSocket(dataDir), { isForced });
  if (answer !== undefined) return answer as RestartAnswer; // a supervisor of this version
  throw new CliError(
    `no service is running from ${dataDir}; start it with "causeway serve", or specify another with --data-dir`,
  );
}

function show(context: CliContext, { taken, pending }: Extract<RestartAnswer, { readonly kind: 'restarted' }>): void {
  context.print('new processes have taken over; the earlier ones finish their connections');
  if (taken.length > 0) context.print(`in force: ${taken.join(', ')}`);
  if (pending.length > 0)
    context.print(`not in force everywhere until the service is restarted: ${pending.join(', ')}`);
}
