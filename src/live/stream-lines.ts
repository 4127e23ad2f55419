/** The state of the streams for edge workers: the latest line of each stream, and every change. */
import { type StreamName, streamKey } from '#sites/live.ts';

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
  /** Lines of this process's own streams. */
  readonly #own = new Map<string, StreamLine>();
  /** Lines of streams that the predecessor has on air. */
  readonly #inherited = new Map<string, StreamLine>();
  /** The line that is in force for each stream, as JSON. */
  readonly #texts = new Map<string, string>();
  readonly #followers = new Set<(line: string) => void>();

  /** Stores the line of an own stream, and notifies followers of a change. */
  set(line: StreamLine): void {
    this.#put(this.#own, line);
  }

  /** Stores the line of a stream of the predecessor. It is in force while this process has no such stream. */
  setInherited(line: StreamLine): void {
    this.#put(this.#inherited, line);
  }

  /** The line of a stream that the predecessor has on air; `undefined` if it has not. */
  inherited(name: StreamName): StreamLine | undefined {
    return this.#inherited.get(streamKey(name));
  }

  /** Forgets those streams of the predecessor that are not named in `except`, by key. */
  forgetInherited(except: ReadonlySet<string> = new Set()): void {
    for (const [key, { domain, app, stream }] of this.#inherited)
      if (!except.has(key)) this.setInherited({ domain, app, stream, state: 'none' });
  }

  /** Returns the latest lines of all known streams. */
  list(): readonly string[] {
    return [...this.#texts.values()];
  }

  follow(onLine: (line: string) => void): Disposable {
    this.#followers.add(onLine);
    return { [Symbol.dispose]: () => void this.#followers.delete(onLine) };
  }

  #put(lines: Map<string, StreamLine>, line: StreamLine): void {
    const key = keyOf(line);
    if (line.state === 'none') lines.delete(key);
    else lines.set(key, line);
    const { domain, app, stream } = line;
    const next = this.#own.get(key) ?? this.#inherited.get(key) ?? { domain, app, stream, state: 'none' };
    const text = JSON.stringify(next);
    const before = this.#texts.get(key);
    if (before === text || (before === undefined && next.state === 'none')) return;
    if (next.state === 'none') this.#texts.delete(key);
    else this.#texts.set(key, text);
    for (const follow of this.#followers) follow(text);
  }
}

export function keyOf({ domain, app, stream }: StreamLine): string {
  return streamKey({ domainId: domain, app, stream });
}
