/** Traffic reports of an edge to control: the shipper of this machine's spools, its outbox and its metrics. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { Counter } from 'prom-client';
import type { ControlLink } from '#feed/client/control-link.ts';
import { LOGS_PATH, STAT_SECONDS_HEADER, STATISTICS_PATH } from '#feed/wire/protocol.ts';
import { steadyClock, systemClock } from '#lib/clock.ts';
import { metricsOf } from '#lib/metrics.ts';
import { COUNTERS, type Counters } from '#logs/counters.ts';
import type { RecentCounts } from '#logs/recent-counts.ts';
import { openOutbox } from '#logs/ship/outbox.ts';
import { createPlaceParts } from '#logs/ship/place-parts.ts';
import { type Shipper, startShipper } from '#logs/ship/shipper.ts';
import type { LineSinks } from '#logs/sinks/line-sinks.ts';
import type { PartContext } from '../process/child.ts';
import { spoolDirectory } from './access-log.ts';
import { placesAt } from './place-logs.ts';
import { postTo } from './post-to-control.ts';

export interface TrafficReports extends AsyncDisposable {
  /** Takes the names of the parts that write access logs from now on. */
  useLogWriters(names: readonly string[]): void;
}

/** `recent` is told what is counted; `sinks` may need a file that is shipped. */
export function startTraffic(
  { config, logWriters, log, registry }: PartContext,
  link: ControlLink,
  { recent, sinks }: { readonly recent: RecentCounts; readonly sinks: Pick<LineSinks, 'keep'> },
): TrafficReports {
  const { dataDir, edgeId: edge, statSeconds } = config;
  let announcedSeconds = 0;
  const shipper = startShipper({
    directory: spoolDirectory(dataDir),
    writers: config.accessLog === 'off' ? [] : logWriters,
    openOutbox: () =>
      openOutbox({
        file: join(dataDir, 'edge', 'outbox.db'),
        edge,
        onCounted: (counts) => recent.add(counts, systemClock()),
        onLost: (reports) => log.error({ reports }, 'traffic reports dropped: control was unreachable for too long'),
        onMoved: (to) => log.error({ to }, 'the traffic counts file is damaged; moved it aside and started a new one'),
      }),
    edge,
    reportMs: () => Math.max(statSeconds, announcedSeconds) * 1000,
    reportOffsetMs: randomInt(statSeconds * 1000), // so that not all edges report at once
    postPart: postTo(link, LOGS_PATH),
    ...(link.isRemote && { placeParts: createPlaceParts(placesAt(link, log)) }),
    postReport: postTo(link, STATISTICS_PATH, (fields) => {
      announcedSeconds = readSeconds(fields[STAT_SECONDS_HEADER]);
    }),
    beforeDeletion: (stem) => sinks.keep(stem),
    clock: systemClock,
    steadyClock,
    log,
  });
  addShipperMetrics(registry, shipper);
  addDomainMetrics(registry, shipper);
  return {
    useLogWriters: (names) => shipper.useWriters(config.accessLog === 'off' ? [] : names),
    [Symbol.asyncDispose]: () => shipper[Symbol.asyncDispose](),
  };
}

/** Returns 0 if control announces no interval. */
function readSeconds(value: string | readonly string[] | undefined): number {
  return typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : 0;
}

function addShipperMetrics(registry: PartContext['registry'], shipper: Shipper): void {
  const { gauge, total } = metricsOf(registry);
  gauge(
    'causeway_log_files_waiting',
    'Finished access-log files that have not been shipped to control yet',
    () => shipper.waitingFiles,
  );
  gauge('causeway_statistics_reports_waiting', 'Traffic reports that control has not accepted yet', () =>
    shipper.outbox?.countReports(),
  );
  total(
    'causeway_log_files_shipped_total',
    'Access-log files shipped to control since the start',
    () => shipper.shippedFiles,
  );
  total(
    'causeway_traffic_refused_total',
    'Log parts and traffic reports lost since the start because control rejected them',
    () => shipper.refused,
  );
  total(
    'causeway_access_log_broken_lines_total',
    'Incomplete log lines left by killed processes since the start',
    () => shipper.brokenLines,
  );
}

/** `bytesOrigin` → `bytes_origin` */
const METRIC_NAMES = COUNTERS.map((name) => [name, name.replace(/[A-Z]|\d/, (c) => `_${c.toLowerCase()}`)] as const);

/** Counters outlive the workers: they are read from the disk. */
function addDomainMetrics(registry: PartContext['registry'], shipper: Pick<Shipper, 'outbox'>): void {
  const counters = METRIC_NAMES.map(([name, metric]) => {
    const counter = new Counter({
      name: `causeway_domain_${metric}_total`,
      help: `Total per domain on this edge, by domain id: ${metric.replaceAll('_', ' ')}; id 0 stands for requests without a domain`,
      labelNames: ['domain_id'],
      registers: [registry],
      collect() {
        if (name === 'requests') refill();
      },
    });
    return { name, counter };
  });
  const refill = () => {
    const totals = shipper.outbox?.totals();
    if (totals === undefined) return; // the last values stay
    if (totals.isWhole) for (const { counter } of counters) counter.reset();
    const show = (domain: string, counts: Readonly<Counters>) => {
      for (const { name, counter } of counters) {
        counter.remove({ domain_id: domain });
        counter.inc({ domain_id: domain }, counts[name]);
      }
    };
    for (const one of totals.domains) show(String(one.domainId), one);
    if (totals.others !== undefined) show('other', totals.others);
  };
}
