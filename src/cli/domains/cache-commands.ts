/** `causeway cache`: purge and prefetch, and how far they have come; `causeway domain cache-options`. */
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import type { Client } from '#client/transport.ts';
import type { DataOf } from '#contract/operations.ts';
import { WIRE_CACHE_SETTINGS } from '#contract/settings/settings.ts';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { findDomainId } from '../command/find-domain.ts';
import { WAIT_MEANING as EDGES_RUN_IT, onDomain, type Shown } from '../command/on-domain.ts';
import {
  addCallCommand,
  addChangeSettings,
  addWhole,
  givenSettings,
  ifRevision,
  listOption,
  type Options,
  parseWholeNumber,
  textOption,
} from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { printer } from '../command/run-operation.ts';
import { type TimeTexts, timeTexts } from '../command/times.ts';
import { addSettingOptions, describeFields, givenFields } from './setting-options.ts';

type Task = DataOf<'cache.getTask'>;

/** A purge takes a second; an edge that has died holds it back for 30. */
const PURGE_WAIT_LIMIT_MS = 60_000;
const PREFETCH_WAIT_LIMIT_MS = 30 * 60_000;
const WAIT_POLL_MS = 200;
const WAIT_MEANING = 'wait until every edge has finished';

export function cacheCommand(context: CliContext): Command {
  const command = new Command('cache').description("purge and prefetch objects of the account's domains");
  addCallCommand(command, context, 'purge [url...]', 'purge objects, directories or a whole domain from every edge')
    .option('--directory <url>', 'purge everything below this URL, which ends with /; may be repeated', addWhole)
    .option('--domain <domain>', 'purge the whole domain; excludes URLs and --directory')
    .option('--wait', WAIT_MEANING)
    .action((urls: string[], options: Options) => purge(context, urls, options));
  addCallCommand(
    command,
    context,
    'prefetch <url...>',
    'fetch objects into the cache of every edge before viewers request them',
  )
    .option('--wait', WAIT_MEANING)
    .action(async (urls: string[], options: Options) => {
      const client = connectCustomer(context, givenSettings(context, options));
      const { task_id } = await client.call('cache.prefetch', { urls });
      await showTask(context, client, task_id, options);
    });
  addCallCommand(command, context, 'list', 'list the purges and prefetches of the last 30 days, the newest first')
    .option('--kind <kind>', 'purge or prefetch')
    .option('--before <task>', 'show only older ones', parseWholeNumber)
    .option('--page-size <number>', 'number of tasks, at most 50', parseWholeNumber)
    .action((options: Options) => listTasks(context, options));
  addCallCommand(command, context, 'task <task>', 'show the progress of a purge or prefetch')
    .option('--wait', WAIT_MEANING)
    .action((task: string, options: Options) =>
      showTask(context, connectCustomer(context, givenSettings(context, options)), task, options),
    );
  return command;
}

async function listTasks(context: CliContext, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const { before, pageSize } = options;
  const data = await client.call('cache.listTasks', {
    kind: textOption(options, 'kind') ?? '',
    ...(typeof before === 'number' && { before }),
    ...(typeof pageSize === 'number' && { page_size: pageSize }),
  });
  const times = timeTexts(context, options);
  const rows = data.list.map(({ task_id, kind, state, created_at, items, items_total, done, waiting, failed }) => {
    const rest = items_total > 1 ? ` and ${items_total - 1} more` : '';
    const counts = `${done}/${done + waiting + failed}`;
    return [task_id, kind, state, times.ofSeconds(Math.floor(created_at / 1000)), counts, (items[0] ?? '') + rest];
  });
  const more = data.next === '' ? [] : [`there are more: --before ${data.next}`];
  const head = ['TASK', 'KIND', 'STATE', 'TIME', 'DONE', 'ITEMS'];
  printer(context, options)(data, [...formatTable([head, ...rows]), ...more]);
}

export function cacheOptionsCommand(context: CliContext): Command {
  const command = addChangeSettings(new Command('cache-options').argument('<domain>'), context);
  return addSettingOptions(command, WIRE_CACHE_SETTINGS)
    .description("show a domain's cache options, or change the given ones")
    .option('--wait', EDGES_RUN_IT)
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, (client, id) => changeCacheOptions(client, id, options)),
    );
}

async function purge(context: CliContext, urls: string[], options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const domain = textOption(options, 'domain');
  const directories = [...listOption(options, 'directory')];
  const { task_id } = await client.call('cache.purge', {
    urls,
    directories,
    ...(domain !== undefined && { domain_id: await findDomainId(client, domain) }),
  });
  await showTask(context, client, task_id, options);
}

async function showTask(context: CliContext, client: Client, id: string, options: Options): Promise<void> {
  let task = await client.call('cache.getTask', { task_id: id });
  const limitMs = task.kind === 'purge' ? PURGE_WAIT_LIMIT_MS : PREFETCH_WAIT_LIMIT_MS;
  const startedAt = performance.now();
  while (options['wait'] === true && task.state === 'running') {
    if (performance.now() - startedAt > limitMs)
      throw new CliError(`task ${id} is still running after ${limitMs / 1000} s`);
    await delay(WAIT_POLL_MS);
    task = await client.call('cache.getTask', { task_id: id });
  }
  printer(context, options)(task, describeTask(task, timeTexts(context, options)));
  if (task.state === 'failed') throw new CliError(`task ${id} failed`);
}

function describeTask(task: Task, { ofLocal }: TimeTexts): string[] {
  const edges = task.edges.map(({ edge, state, detail }) => [edge, state, detail || '-']);
  const items = task.items.map((item) => [
    item.state,
    String(item.done),
    String(item.failed),
    item.item,
    item.failures.map(({ edge, reason }) => `${edge}: ${reason}`).join(', ') || '-',
  ]);
  return [
    ...formatPairs([
      ['task', task.task_id],
      ['kind', task.kind],
      ['state', task.state],
      ['created', ofLocal(task.create_time)],
    ]),
    ...formatTable([['EDGE', 'STATE', 'DETAIL'], ...edges]),
    ...formatTable([['STATE', 'DONE', 'FAILED', 'ITEM', 'WHY'], ...items]),
  ];
}

async function changeCacheOptions(client: Client, id: string, options: Options): Promise<Shown> {
  const given = givenFields(WIRE_CACHE_SETTINGS, options);
  if (Object.keys(given).length > 0)
    await client.call('config.setCacheOptions', { domain_id: id, ...given, ...ifRevision(options) });
  const data = await client.call('config.getCacheOptions', { domain_id: id });
  return { data, lines: formatPairs(describeFields(WIRE_CACHE_SETTINGS, data)) };
}
