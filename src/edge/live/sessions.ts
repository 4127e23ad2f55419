/**
 * The long-lived answers of a worker: checks again whether they are allowed, logs them each minute, and counts them.
 */
import type { LineLedger } from '../respond/edge-answer.ts';

export interface OpenSession {
  readonly stream: string;
  readonly kind: 'flv' | 'websocket';
  readonly ledger: LineLedger;
  /** Whether the domain and its rules still allow the viewer. */
  isAllowed(): boolean;
  cut(): void;
  /** Writes a line for the time since the previous one. */
  writeLine(now: number): void;
}

/** Interval of lines; a kill loses the traffic since the last one. */
const LINE_MS = 60_000;

export class Sessions {
  readonly #open = new Set<OpenSession>();

  /** Adds a session. Returns a function to be called when it has ended. */
  enter(session: OpenSession): () => void {
    this.#open.add(session);
    return () => this.#open.delete(session);
  }

  /** Cuts the sessions that are no longer allowed. */
  recheck(): void {
    for (const session of this.#open) if (!session.isAllowed()) session.cut();
  }

  writeLines(now: number): void {
    for (const session of this.#open) if (now - session.ledger.at >= LINE_MS) session.writeLine(now);
  }

  /** Counts open sessions by stream and kind. */
  counts(): ReadonlyMap<string, Readonly<Record<OpenSession['kind'], number>>> {
    const counts = new Map<string, Record<OpenSession['kind'], number>>();
    for (const { stream, kind } of this.#open) {
      const count = counts.get(stream) ?? { flv: 0, websocket: 0 };
      count[kind]++;
      counts.set(stream, count);
    }
    return counts;
  }
}
