/** Helpers to define metrics: one call each. The registry reads their values when it is collected. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type BucketCounts, DURATION_BOUNDS_SECONDS } from './bucket-counts.ts';

/** Functions that define metrics of `registry`. */
export function metricsOf(registry: Registry) {
  const registers = [registry];
  return {
    counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
      return new Counter({ name, help, labelNames, registers });
    },
    /** A counter that is kept elsewhere: `read` returns its value since the start. */
    total(name: string, help: string, read: () => number): void {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    },
    /** Counters that are kept elsewhere, one for each of the labels that `read` returns. */
    totals<L extends string>(
      name: string,
      help: string,
      labelNames: readonly L[],
      read: () => Iterable<Labelled<L>>,
    ): void {
      new Counter({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const [labels, value] of read()) this.inc(labels, value);
        },
      });
    },
    /** The last value stays if `read` returns `undefined`. */
    gauge(name: string, help: string, read: () => number | undefined): void {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          const value = read();
          if (value !== undefined) this.set(value);
        },
      });
    },
    /** Only the labels that `read` returns are shown. */
    gauges<L extends string>(
      name: string,
      help: string,
      labelNames: readonly L[],
      read: () => Iterable<Labelled<L>>,
    ): void {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const [labels, value] of read()) this.set(labels, value);
        },
      });
    },
    /** Histograms that are kept elsewhere, one for each of the labels that `read` returns. */
    histograms<L extends string>(
      name: string,
      help: string,
      labelNames: readonly L[],
      read: () => Iterable<Labelled<L, BucketCounts>>,
    ): void {
      new KeptHistogram({ name, help, labelNames, registers }, read);
    },
  };
}

type Labelled<L extends string, V = number> = readonly [labels: Record<L, string>, value: V];

/** A histogram whose counts are kept elsewhere: prom-client can only count single values. */
class KeptHistogram<L extends string> extends Histogram {
  readonly #about: { readonly name: string; readonly help: string };
  readonly #read: () => Iterable<Labelled<L, BucketCounts>>;

  constructor(
    options: { name: string; help: string; labelNames: readonly L[]; registers: Registry[] },
    read: () => Iterable<Labelled<L, BucketCounts>>,
  ) {
    super({ ...options, buckets: [...DURATION_BOUNDS_SECONDS] });
    this.#about = { name: options.name, help: options.help };
    this.#read = read;
  }

  override async get(): ReturnType<Histogram['get']> {
    const values = [...this.#read()].flatMap(([labels, counts]) => valuesOf(this.#about.name, labels, counts));
    // `as`: prom-client's type has numbers for the words that it writes itself.
    return { ...this.#about, type: 'histogram', values, aggregator: 'sum' } as unknown as Awaited<
      ReturnType<Histogram['get']>
    >;
  }

  /** Used by prom-client instead of `get` when it writes the text of one registry. */
  getForPromString(): ReturnType<Histogram['get']> {
    return this.get();
  }
}

function valuesOf(name: string, labels: Readonly<Record<string, string>>, { counts, sumSeconds }: BucketCounts) {
  let sum = 0;
  const buckets = [...counts].map((count, index) => {
    sum += count;
    const le = DURATION_BOUNDS_SECONDS[index] ?? '+Inf';
    return { labels: { le, ...labels }, value: sum, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: sumSeconds, metricName: `${name}_sum` },
    { labels, value: sum, metricName: `${name}_count` },
  ];
}
