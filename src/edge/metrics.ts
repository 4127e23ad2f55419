/** The edge's counters. Every label has a closed set of values. */
import { Counter, type Registry } from 'prom-client';
import type { ContentCoding } from '#http/content-coding.ts';
import { BucketCounts } from '#lib/bucket-counts.ts';
import { metricsOf } from '#lib/metrics.ts';
import type { ProxyHeaderFailure } from '#lib/proxy-header.ts';
import { type CacheMark, type Handshake, type OriginFailure, reasonOf, type Unfollowed } from './reasons.ts';
import type { CacheStore } from './store/store.ts';
import { createTierMetrics, type TierMetrics } from './tier-metrics.ts';

export interface EdgeMetrics extends TierMetrics {
  /** `mark` is absent when the client left before there was an answer. */
  countRequest(mark: CacheMark | undefined, status: number, sentBytes: number): void;
  /** Counts how long a request waited for the head of its answer. */
  countFirstByte(mark: CacheMark, durationMs: number): void;
  /** Counts the time from a request to an origin until the head of its response. */
  countOriginLatency(durationMs: number): void;
  /**
   * Counts a long-lived answer while it is sent. Returns a function that stops this and returns how much was counted.
   */
  openMeter(sentBytes: () => number): () => number;
  /** A request that a shortcut answered; not to be counted as another. */
  countPrepared(status: number, sentBytes: number): void;
  /** Requests, and bytes sent, since the start; probes of the health page are not counted. */
  counts(): { readonly requests: number; readonly sentBytes: number };
  countOriginFailure(failure: OriginFailure): void;
  countRedirect(outcome: 'followed' | Unfollowed): void;
  countHandshake(handshake: Handshake): void;
  countProxyHeaderFailure(failure: ProxyHeaderFailure): void;
  countCompression(coding: ContentCoding, outcome: 'made' | 'refused'): void;
}

export function createEdgeMetrics(
  registry: Registry,
  store: CacheStore,
  webSockets: { readonly open: number },
  rates: { readonly uncounted: number },
): EdgeMetrics {
  const { counter, gauge, total } = metricsOf(registry);
  const counters = createRequestCounters(registry);
  const latencies = createLatencies(registry, counters);
  const failures = counter(
    'causeway_edge_origin_failures_total',
    'Attempts to reach an origin that got no response, by reason.',
    ['reason'],
  );
  const redirects = counter(
    'causeway_edge_redirects_total',
    'Redirects from origins of sites that follow redirects: followed, or why they were passed to the client.',
    ['outcome'],
  );
  const handshakes = counter(
    'causeway_edge_tls_handshakes_total',
    'TLS handshakes with clients: full, resumed, or why they failed.',
    ['outcome'],
  );
  const proxyHeaderFailures = counter(
    'causeway_edge_proxy_header_failures_total',
    'Connections of trusted proxies that were closed because the PROXY protocol header was missing or late.',
    ['reason'],
  );
  gauge('causeway_edge_web_sockets', 'WebSocket connections, open or being opened.', () => webSockets.open);
  total(
    'causeway_edge_rate_limits_full_total',
    'Requests with a rate limit that were let through uncounted, because the table of clients had no place for theirs.',
    () => rates.uncounted,
  );
  const compressions = counter(
    'causeway_edge_compressions_total',
    'Compressions of bodies that were started, or refused because too many were in flight.',
    ['coding', 'outcome'],
  );
  gauge('causeway_edge_store_bytes', 'Memory used by the cache store.', () => store.usage().bytes);
  gauge('causeway_edge_store_objects', 'Stored responses; each variant counts as one.', () => store.usage().objects);
  const { diskUsage } = store;
  if (diskUsage !== undefined) {
    gauge(
      'causeway_edge_disk_bytes',
      'Disk space of the cache, as counted by the worker that maintains it; 0 in the others.',
      () => diskUsage().bytes,
    );
    gauge(
      'causeway_edge_disk_keys',
      'Keys in the disk cache, as counted by the worker that maintains it; 0 in the others.',
      () => diskUsage().objects,
    );
  }
  return {
    ...counters,
    ...latencies,
    ...createTierMetrics(registry),
    countOriginFailure: (failure) => failures.inc({ reason: failure }),
    countRedirect: (outcome) => redirects.inc({ outcome }),
    countHandshake: (outcome) => handshakes.inc({ outcome }),
    countProxyHeaderFailure: (failure) => proxyHeaderFailures.inc({ reason: failure }),
    countCompression: (coding, outcome) => compressions.inc({ coding, outcome }),
  };
}

/** Counts in plain numbers, which the registry copies when it is read: on the path of a hit, labels would cost the most. */
function createRequestCounters(
  registry: Registry,
): Pick<EdgeMetrics, 'countRequest' | 'openMeter' | 'countPrepared' | 'counts'> & { preparedAnswers(): number } {
  const registers = [registry];
  /** Keys are the words of a mark; lists are by the class of the status. A joined key would be a new text each time. */
  const counts = new Map<string, Map<string, Counted[]>>();
  /** Counts of hits, by the class of their status. */
  const hits: Counted[] = [];
  let requests = 0;
  /** Bytes sent, less those that a meter has yet to count. */
  let bytes = 0;
  /** Bytes that the registry has counted. */
  let takenBytes = 0;
  let prepared = 0;
  const meters = new Set<Meter>();
  const readMeters = () => {
    for (const meter of meters) bytes += readMeter(meter);
  };
  new Counter({
    name: 'causeway_edge_requests_total',
    help: 'Requests, by the words of X-Cache and the status class (4xx includes clients that disconnected).',
    labelNames: ['cache', 'reason', 'status'],
    registers,
    collect() {
      for (const counted of [...counts.values()].flatMap((reasons) => [...reasons.values()].flat())) {
        this.inc(counted.labels, counted.count);
        counted.count = 0;
      }
    },
  });
  new Counter({
    name: 'causeway_edge_sent_bytes_total',
    help: 'Bytes sent to clients.',
    registers,
    collect() {
      readMeters();
      // Fewer if an answer was cut before the system had taken all that was counted: the next bytes make up for it.
      if (bytes <= takenBytes) return;
      this.inc(bytes - takenBytes);
      takenBytes = bytes;
    },
  });
  metricsOf(registry).total(
    'causeway_edge_prepared_answers_total',
    'Hits answered by a shortcut, without the pipeline.',
    () => prepared,
  );
  const countedOf = (mark: CacheMark | undefined, statusClass: number): Counted => {
    const cache = mark?.status ?? 'NONE';
    const reason = mark === undefined ? '' : reasonOf(mark);
    const reasons = counts.get(cache) ?? new Map<string, Counted[]>();
    if (reasons.size === 0) counts.set(cache, reasons);
    const classes = reasons.get(reason) ?? [];
    if (classes.length === 0) reasons.set(reason, classes);
    classes[statusClass] ??= { labels: { cache, reason, status: `${statusClass}xx` }, count: 0 };
    return classes[statusClass];
  };
  return {
    countRequest: (mark, status, sentBytes) => {
      countedOf(mark, Math.floor(status / 100)).count += 1;
      bytes += sentBytes;
      if (mark === undefined || reasonOf(mark) !== 'health') requests += 1;
    },
    openMeter: (sentBytes) => openMeter(meters, sentBytes),
    preparedAnswers: () => prepared,
    countPrepared: (status, sentBytes) => {
      const statusClass = Math.floor(status / 100);
      const counted = hits[statusClass] ?? countedOf(HIT, statusClass);
      hits[statusClass] = counted;
      counted.count += 1;
      bytes += sentBytes;
      requests += 1;
      prepared += 1;
    },
    counts: () => {
      readMeters();
      return { requests, sentBytes: bytes };
    },
  };
}

/** Answers of shortcuts go out in the turn that reads their request: they cost no look at a clock. */
function createLatencies(
  registry: Registry,
  { preparedAnswers }: { preparedAnswers(): number },
): Pick<EdgeMetrics, 'countFirstByte' | 'countOriginLatency'> {
  const { histograms } = metricsOf(registry);
  const firstBytes = new Map<CacheMark['status'], BucketCounts>([['HIT', new BucketCounts()]]);
  const origins = new BucketCounts();
  let countedAnswers = 0;
  const read = () => {
    const prepared = preparedAnswers();
    firstBytes.get('HIT')?.count(0, prepared - countedAnswers);
    countedAnswers = prepared;
    return [...firstBytes].map(([cache, counts]) => [{ cache }, counts] as const);
  };
  histograms(
    'causeway_edge_first_byte_seconds',
    'Time from a request to the head of its answer, by the first word of X-Cache; hits by a shortcut count as 0.',
    ['cache'],
    read,
  );
  histograms(
    'causeway_edge_origin_response_seconds',
    'Time from sending a request to an origin until the head of its response.',
    [],
    () => [[{}, origins]],
  );
  return {
    countFirstByte: ({ status }, durationMs) => {
      const counts = firstBytes.get(status) ?? new BucketCounts();
      firstBytes.set(status, counts);
      counts.count(durationMs);
    },
    countOriginLatency: (durationMs) => origins.count(durationMs),
  };
}

const HIT: CacheMark = { status: 'HIT' };

function openMeter(meters: Set<Meter>, sentBytes: () => number): () => number {
  const meter = { sentBytes, counted: 0 };
  meters.add(meter);
  return () => {
    meters.delete(meter);
    return meter.counted;
  };
}

/** Returns what was sent since the last call. */
function readMeter(meter: Meter): number {
  const before = meter.counted;
  meter.counted = meter.sentBytes();
  return meter.counted - before;
}

interface Meter {
  readonly sentBytes: () => number;
  counted: number;
}

interface Counted {
  readonly labels: Readonly<Record<'cache' | 'reason' | 'status', string>>;
  count: number;
}
