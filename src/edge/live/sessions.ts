/** The lasting answers of a worker: asked again whether they are allowed, written down each minute, and counted. */
import type { LineLedger } from '../respond/edge-answer.ts';

export interface OpenSession {
  readonly stream: string;
  readonly kind: 'flv' | 'websocket';
  readonly ledger: LineLedger;
  /** Whether the domain and its rules still let the viewer in. */
  isAllowed(): boolean;
  cut(): void;
  /** Writes what has come since the last line. */
  writeLine(now: number): void;
}

/** A kill loses what came since the last line. */
const LINE_MS = 60_000;

export class Sessions {
  readonly #open = new Set<OpenSession>();

  /** Gives what is to be called when it has ended. */
  enter(session: OpenSession): () => void {
    this.#open.add(session);
    return () => this.#open.delete(session);
  }

  /** Cuts those that are no longer allowed. */
  recheck(): void {
    for (const session of this.#open) if (!session.isAllowed()) session.cut();
  }

  writeLines(now: number): void {
    for (const session of this.#open) if (now - session.ledger.at >= LINE_MS) session.writeLine(now);
  }

  /** Open sessions by stream and kind. */
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
