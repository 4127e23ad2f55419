/** The streams that the live process knows, as reported to this worker. Pure except for notifications of changes. */
import { parseObject } from '#lib/parse-object.ts';
import { type StreamName, streamKey } from '#sites/live.ts';

export interface KnownStream {
  /** `paused`: the stream is forbidden and may not be watched. */
  readonly state: 'live' | 'grace' | 'paused';
  /** Id of the broadcast; empty while paused. */
  readonly broadcast: string;
}

export class StreamTable {
  readonly #streams = new Map<string, KnownStream>();
  readonly #onChange: (key: string, state: KnownStream | undefined) => void;
  /** Streams named since the connection began; `undefined` once the table is in sync. */
  #named: Set<string> | undefined = new Set();

  /**
   * `onChange` is notified of each stream whose state or broadcast has changed; its state is `undefined` if it is gone.
   */
  constructor(onChange: (key: string, state: KnownStream | undefined) => void) {
    this.#onChange = onChange;
  }

  /** Whether the list is complete. Without a connection, or before, the previous table stays. */
  get isSynced(): boolean {
    return this.#named === undefined;
  }

  get(name: StreamName): KnownStream | undefined {
    return this.#streams.get(streamKey(name));
  }

  /** Called when the connection was lost: the next one lists all streams again. */
  restart(): void {
    this.#named = new Set();
  }

  /** Applies a line of `GET /streams`. Unknown lines are ignored. */
  apply(line: string): void {
    const parsed = parseLine(line);
    if (parsed === undefined) return;
    if (parsed === 'synced') {
      const named = this.#named;
      this.#named = undefined;
      if (named !== undefined) for (const key of this.#streams.keys()) if (!named.has(key)) this.#set(key, undefined);
      return;
    }
    const key = streamKey(parsed.name);
    this.#named?.add(key);
    this.#set(key, parsed.state);
  }

  #set(key: string, state: KnownStream | undefined): void {
    const known = this.#streams.get(key);
    if (known?.state === state?.state && known?.broadcast === state?.broadcast) return;
    if (state === undefined) this.#streams.delete(key);
    else this.#streams.set(key, state);
    this.#onChange(key, state);
  }
}

type Line = 'synced' | { readonly name: StreamName; readonly state: KnownStream | undefined };

function parseLine(line: string): Line | undefined {
  // An incomplete line of a killed process has no members.
  const { synced, domain: domainId, app, stream, state, broadcast: id } = parseObject(line) ?? {};
  if (synced !== undefined) return 'synced';
  if (typeof domainId !== 'number' || typeof app !== 'string' || typeof stream !== 'string') return undefined;
  const name = { domainId, app, stream };
  const broadcast = typeof id === 'string' ? id : '';
  if (state === 'paused') return { name, state: { state, broadcast: '' } };
  if (state === 'live' || state === 'grace') return { name, state: { state, broadcast } };
  return state === 'none' ? { name, state: undefined } : undefined;
}
