/** The state of the streams for edge workers: the latest line of each stream, and every change. */
import { streamKey } from '#sites/live.ts';

export interface StreamLine {
  readonly domain: number;
  readonly app: string;
  readonly stream: string;
  /** `none`: workers forget the stream. */
  readonly state: 'live' | 'grace' | 'paused' | 'none';
  /** Absent if the stream is not on air. */
  readonly broadcast?: string;
}

export class StreamLines {
  /** Lines as JSON texts. */
  readonly #lines = new Map<string, string>();
  readonly #followers = new Set<(line: string) => void>();

  /** Stores the line and notifies followers, unless the stream is unchanged. */
  set(line: StreamLine): void {
    const { domain: domainId, app, stream, state } = line;
    const key = streamKey({ domainId, app, stream });
    const text = JSON.stringify(line);
    const before = this.#lines.get(key);
    if (before === text || (before === undefined && state === 'none')) return;
    if (state === 'none') this.#lines.delete(key);
    else this.#lines.set(key, text);
    for (const follow of this.#followers) follow(text);
  }

  /** Returns the latest lines of all known streams. */
  list(): readonly string[] {
    return [...this.#lines.values()];
  }

  follow(onLine: (line: string) => void): Disposable {
    this.#followers.add(onLine);
    return { [Symbol.dispose]: () => void this.#followers.delete(onLine) };
  }
}
