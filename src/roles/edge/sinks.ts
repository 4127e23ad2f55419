/** Posts log lines of this machine to sinks, in the process of the feed: viewers' requests wait for none of it. */
import { join } from 'node:path';
import type { EdgeStore } from '#feed/store/edge-store.ts';
import { steadyClock } from '#lib/clock.ts';
import { metricsOf } from '#lib/metrics.ts';
import { LineSinks } from '#logs/sinks/line-sinks.ts';
import { openSinkPlaces } from '#logs/sinks/places.ts';
import type { PartContext } from '../process/child.ts';
import { ANYWHERE, createWebhookSender } from '../process/webhook-sender.ts';
import { spoolDirectory } from './access-log.ts';

export function startSinks(
  { config, ownAddresses, log, registry }: PartContext,
  store: Pick<EdgeStore, 'head' | 'listSinks'>,
): LineSinks & AsyncDisposable {
  const { dataDir, edgeId: edge, sinkSpool: keepBytes } = config;
  const spools = spoolDirectory(dataDir);
  const sender = createWebhookSender({ allow: ANYWHERE, refuse: ownAddresses });
  const sinks = new LineSinks({
    ...{ spools, directory: join(spools, 'sinks'), edge, keepBytes, steadyClock, log },
    openPlaces: () =>
      openSinkPlaces(join(dataDir, 'edge', 'sinks.db'), (to) =>
        log.error({ to }, 'the file of what sinks were sent is damaged; moved it aside and started a new one'),
      ),
    listSinks: () => (store.head() === undefined ? undefined : store.listSinks()),
    post: sender.post,
  });
  addMetrics(registry, sinks);
  return sinks;
}

function addMetrics(registry: PartContext['registry'], sinks: LineSinks): void {
  const { gauges, totals } = metricsOf(registry);
  totals('causeway_sink_sent_records_total', 'Log lines that a sink has accepted since the start', ['sink'], () =>
    sinks.states.map(({ name, sent }) => [{ sink: name }, sent]),
  );
  totals(
    'causeway_sink_dropped_records_total',
    'Log lines that a sink did not get since the start: it refused them, or too many were waiting (spool)',
    ['sink', 'reason'],
    () =>
      sinks.states.flatMap(({ name, dropped }) => [
        [{ sink: name, reason: 'refused' }, dropped.refused] as const,
        [{ sink: name, reason: 'spool' }, dropped.spool] as const,
      ]),
  );
  totals('causeway_sink_posts_total', 'Posts to a sink since the start', ['sink'], () =>
    sinks.states.map(({ name, posts }) => [{ sink: name }, posts]),
  );
  totals('causeway_sink_failures_total', 'Posts to a sink that failed or were refused since the start', ['sink'], () =>
    sinks.states.map(({ name, failures }) => [{ sink: name }, failures]),
  );
  gauges('causeway_sink_behind_bytes', 'Bytes of spooled log lines that a sink has not got yet', ['sink'], () =>
    sinks.states.map(({ name, behindBytes }) => [{ sink: name }, behindBytes]),
  );
}
