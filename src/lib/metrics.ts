/** Helpers to define metrics: one call each. The registry reads their values when it is collected. */
import { Counter, Gauge, type Registry } from 'prom-client';

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
  };
}

type Labelled<L extends string> = readonly [labels: Record<L, string>, value: number];
