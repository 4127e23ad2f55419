/**
 * What this process reports of its connectors. It reads what is counted anyway, so that sending does nothing for it.
 * docs/decisions/0681
 */
import type { Clock } from '#lib/clock.ts';
import type { ConnectorReport } from '#model/sms-connector-report.ts';
import type { Line } from './lines.ts';

/** What a report needs of a line. */
export type ReportedLine = Pick<Line, 'id' | 'name' | 'state' | 'isUp' | 'isReceiving' | 'inFlight' | 'misconfigured'>;

interface Since {
  readonly sends?: number;
  readonly receives?: number;
}

interface Sample {
  readonly at: number;
  /** Parts sent until then, by the name of the connector. */
  readonly sent: ReadonlyMap<string, number>;
}

/** Samples over which a rate is measured, at the interval of `sample`: 10 s. */
const SAMPLES = 20;

export class ConnectorReports {
  readonly #clock: Clock;
  readonly #since = new Map<number, Since>();
  #samples: readonly Sample[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes which lines can send and receive; called whenever that may have changed. */
  note(lines: readonly ReportedLine[]): void {
    const now = this.#clock();
    const open = new Set(lines.map(({ id }) => id));
    for (const id of this.#since.keys()) if (!open.has(id)) this.#since.delete(id);
    for (const { id, isUp, isReceiving } of lines) {
      const { sends = now, receives = now } = this.#since.get(id) ?? {};
      this.#since.set(id, { ...(isUp && { sends }), ...(isReceiving && { receives }) });
    }
  }

  /** Notes how many parts each connector has sent; called at a fixed interval. */
  sample(sent: ReadonlyMap<string, number>): void {
    this.#samples = [...this.#samples.slice(1 - SAMPLES), { at: this.#clock(), sent }];
  }

  of(lines: readonly ReportedLine[]): readonly ConnectorReport[] {
    return lines.map(({ id, name, state, inFlight, misconfigured }) => {
      const { sends, receives } = this.#since.get(id) ?? {};
      return {
        connectorId: id,
        state,
        ...(sends !== undefined && { sendsSince: sends }),
        ...(receives !== undefined && { receivesSince: receives }),
        rate: this.#rateOf(name),
        inFlight,
        ...(misconfigured !== undefined && { misconfigured }),
      };
    });
  }

  #rateOf(name: string): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.at <= first.at) return 0;
    const parts = (last.sent.get(name) ?? 0) - (first.sent.get(name) ?? 0);
    return Math.round((parts * 10_000) / (last.at - first.at)) / 10;
  }
}
