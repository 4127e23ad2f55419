/** The state of the streams for edge workers: the latest line of each stream, and every change as it comes. */
import type { StreamName } from './live-stream.ts';

export interface StreamLine {
  readonly domain: number;
  readonly app: string;
  readonly stream: string;
  /** `none`: it is to be forgotten. */
  readonly state: 'live' | 'grace' | 'paused' | 'none';
  /** Absent when it is not on air. */
  readonly broadcast?: string;
}

export function keyOf({ domainId, app, stream }: StreamName): string {
  return `${domainId}/${app}/${stream}`;
}

export class StreamLines {
  /** JSON. */
  readonly #lines = new Map<string, string>();
  readonly #followers = new Set<(line: string) => void>();

  /** Says nothing where the stream is as it was. */
  set(line: StreamLine): void {
    const { domain: domainId, app, stream, state } = line;
    const key = keyOf({ domainId, app, stream });
    const text = JSON.stringify(line);
    const before = this.#lines.get(key);
    if (before === text || (before === undefined && state === 'none')) return;
    if (state === 'none') this.#lines.delete(key);
    else this.#lines.set(key, text);
    for (const follow of this.#followers) follow(text);
  }

  /** The latest lines of all known streams. */
  list(): readonly string[] {
    return [...this.#lines.values()];
  }

  follow(onLine: (line: string) => void): Disposable {
    this.#followers.add(onLine);
    return { [Symbol.dispose]: () => void this.#followers.delete(onLine) };
  }
}
