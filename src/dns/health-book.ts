/** What probes have found out about addresses of edges: the verdict of each, and whether all are known. Pure. */
import { type CheckHistory, firstCheck, nextCheck } from '#model/edge-health.ts';
import type { EdgeVerdict } from './choose.ts';

/** `out`: the edge answers, and says that it should get no viewers. */
export interface ProbeResult {
  readonly verdict: EdgeVerdict;
  /** Why it is not `up`, for people; absent: it is. */
  readonly detail?: string;
}

export interface HealthEntry {
  /** `undefined`: not probed yet. */
  readonly verdict: EdgeVerdict | undefined;
  readonly detail: string | undefined;
}

interface Entry {
  readonly history: CheckHistory;
  /** The last word of the edge itself. */
  readonly own: ProbeResult | undefined;
}

export class HealthBook {
  readonly #entries = new Map<string, Entry | undefined>();

  /** Sets which addresses are known; the verdicts of others are forgotten. */
  keepOnly(keys: Iterable<string>): void {
    const wanted = new Set(keys);
    for (const key of this.#entries.keys()) if (!wanted.has(key)) this.#entries.delete(key);
    for (const key of wanted) if (!this.#entries.has(key)) this.#entries.set(key, undefined);
  }

  /** Two failures in a row count, and then three successes; the word of an edge counts at once. */
  note(key: string, result: ProbeResult): void {
    if (!this.#entries.has(key)) return;
    const problem = result.verdict === 'down' ? (result.detail ?? 'no answer') : undefined;
    const before = this.#entries.get(key);
    const history = before === undefined ? firstCheck(problem) : nextCheck(before.history, problem);
    this.#entries.set(key, { history, own: result.verdict === 'down' ? before?.own : result });
  }

  look(key: string): HealthEntry {
    const entry = this.#entries.get(key);
    if (entry === undefined) return { verdict: undefined, detail: undefined };
    const { history, own } = entry;
    if (history.isFailed) return { verdict: 'down', detail: history.detail };
    return { verdict: own?.verdict ?? 'up', detail: own?.detail };
  }

  /** Whether each address has been probed. */
  get isComplete(): boolean {
    return [...this.#entries.values()].every((entry) => entry !== undefined);
  }
}
