/** `causeway events`: what happened, and where it is posted to. */
import { Command, Option } from 'commander';
import type { DataOf } from '#contract/operations.ts';
import { EVENT_KIND_NAMES, type EventKind, SEVERITIES, type Severity } from '#model/event.ts';
import { readAllPages } from '../command/all-pages.ts';
import { connectCustomer } from '../command/connect.ts';
import type { CliContext } from '../command/context.ts';
import { addCallCommand, givenSettings, type Options, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { printer, run } from '../command/run-operation.ts';
import { type TimeTexts, timeTexts } from '../command/times.ts';

type EventRow = DataOf<'event.list'>['list'][0];

export function eventsCommand(context: CliContext): Command {
  const command = new Command('events').description('events of the service, and the webhooks they are posted to');
  addList(command, context);
  addWebhook(command, context);
  return command;
}

const OWN = ['--own', "only the account's own, with a customer's token"] as const;

function addList(command: Command, context: CliContext): void {
  addCallCommand(command, context, 'list', 'list events of the last 90 days, newest first')
    .addOption(new Option('--kind <kind>', 'show only events of this kind').choices(EVENT_KIND_NAMES))
    .addOption(new Option('--severity <severity>', 'show only events of this severity').choices(SEVERITIES))
    .option('--account <id>', 'show only events of this account')
    .option(...OWN)
    .action((options: Options) =>
      asWhom(context, options, async (client, print) => {
        // `as`, twice: one of the choices.
        const kind = options['kind'] as EventKind | undefined;
        const filter = { kinds: kind && [kind], severity: options['severity'] as Severity | undefined };
        const account_id = textOption(options, 'account');
        const events = await readAllPages((page) =>
          options['own'] === true
            ? client.call('event.list', { ...filter, ...page })
            : client.call('eventOperator.list', { ...filter, account_id, ...page }),
        );
        print(events, eventTable(events, timeTexts(context, options)));
      }),
    );
}

function addWebhook(command: Command, context: CliContext): void {
  addCallCommand(command, context, 'webhook', 'show the webhook for events')
    .option(...OWN)
    .action((options: Options) =>
      asWhom(context, options, async (client, print) => {
        const webhook = await client.call(
          options['own'] === true ? 'event.getWebhook' : 'eventOperator.getWebhook',
          {},
        );
        print(webhook, describeWebhook(webhook));
      }),
    );
  addCallCommand(command, context, 'set-webhook <url>', 'post events to this URL; an empty one ends that')
    .option('--rotate', 'make a new secret')
    .option(...OWN)
    .action((url: string, options: Options) =>
      asWhom(context, options, async (client, print) => {
        const request = { url, rotate: options['rotate'] === true ? '1' : '0' } as const;
        const webhook = await client.call(
          options['own'] === true ? 'event.setWebhook' : 'eventOperator.setWebhook',
          request,
        );
        print(webhook, describeWebhook(webhook));
      }),
    );
}

/** Customers' commands go with a customer's token, also on the machine of the service. */
function asWhom(context: CliContext, options: Options, work: Parameters<typeof run>[2]): Promise<void> {
  if (options['own'] !== true) return run(context, options, work);
  return work(connectCustomer(context, givenSettings(context, options)), printer(context, options));
}

function describeWebhook({ url, secret }: DataOf<'event.getWebhook'>): readonly string[] {
  return url === '' ? ['there is no webhook for events'] : [`events are posted to ${url}`, `secret: ${secret || '-'}`];
}

function eventTable(events: readonly EventRow[], times: TimeTexts): readonly string[] {
  const rows = events.map(({ event_id, time, severity, kind, account_id, text }) => [
    event_id,
    times.ofSeconds(time),
    severity,
    kind,
    account_id || '-',
    text,
  ]);
  return formatTable([['ID', 'TIME', 'SEVERITY', 'KIND', 'ACCOUNT', 'EVENT'], ...rows]);
}
