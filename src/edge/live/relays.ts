/** The broadcasts that this worker's viewers watch: all viewers of one share a connection to the live process. */
import { chooseEmptied } from '#fanout/emptied.ts';
import { HUB_LIMITS, type HubLimits } from '#fanout/hub.ts';
import { Relay } from '#fanout/relay.ts';
import type { Logger } from '#lib/logger.ts';
import { type StreamName, streamKey } from '#sites/live.ts';
import type { OwnerClient, PullingViewer } from './owner-client.ts';
import type { KnownStream, StreamTable } from './stream-table.ts';

export type OpenedRelay =
  /** `isFirst`: this call has opened the connection. */
  | { readonly kind: 'relay'; readonly relay: Relay; readonly isFirst: boolean }
  /** The origin has an ordinary file there. */
  | { readonly kind: 'file' }
  | { readonly kind: 'failed'; readonly status: number };

/**
 * Limit of the media kept for new viewers, of all broadcasts of a worker; each domain has a share. docs/decisions/0483
 */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

/**
 * Limits without merging: the live process has merged writes for many viewers, and each read is one write.
 * docs/decisions/0529
 */
const WORKER_LIMITS: HubLimits = { ...HUB_LIMITS, mergeAbove: Number.POSITIVE_INFINITY };

interface RelaysOptions {
  readonly client: Pick<OwnerClient, 'openFlv'>;
  readonly streams: Pick<StreamTable, 'get'>;
  readonly log: Logger;
  readonly limits?: HubLimits | undefined;
}

interface Entry {
  readonly opening: Promise<OpenedRelay>;
  relay: Relay | undefined;
}

export class Relays {
  readonly #options: RelaysOptions;
  readonly #relays = new Map<string, Entry>();

  constructor(options: RelaysOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#relays.size;
  }

  /** Opens a relay, or joins one. `viewer`: set if the stream is not on air. Never rejects. */
  async open(name: StreamName, viewer: PullingViewer | undefined): Promise<OpenedRelay> {
    const key = streamKey(name);
    const known = this.#relays.get(key);
    if (known !== undefined && known.relay?.isOver !== true) {
      const opened = await known.opening;
      return opened.kind === 'relay' ? { ...opened, isFirst: false } : opened;
    }
    const entry: Entry = { opening: this.#connect(name, viewer), relay: undefined };
    this.#relays.set(key, entry);
    const opened = await entry.opening;
    if (opened.kind !== 'relay') {
      if (this.#relays.get(key) === entry) this.#relays.delete(key);
      return opened;
    }
    entry.relay = opened.relay;
    this.note(key, this.#options.streams.get(name)); // which may have changed meanwhile
    void opened.relay.run().then((problem) => {
      if (this.#relays.get(key) === entry) this.#relays.delete(key);
      if (problem !== undefined) this.#options.log.info({ err: problem, stream: key }, 'relay of a broadcast failed');
    });
    return opened;
  }

  async #connect(name: StreamName, viewer: PullingViewer | undefined): Promise<OpenedRelay> {
    try {
      const answer = await this.#options.client.openFlv(name, viewer);
      const { statusCode = 502 } = answer;
      if (statusCode === 200)
        return { kind: 'relay', relay: new Relay(answer, this.#options.limits ?? WORKER_LIMITS), isFirst: true };
      answer.resume();
      return statusCode === 409 ? { kind: 'file' } : { kind: 'failed', status: statusCode };
    } catch {
      return { kind: 'failed', status: 503 };
    }
  }

  /** Cuts the relay if its stream is paused or has another broadcast. A broadcast that is over ends by itself. */
  note(key: string, state: KnownStream | undefined): void {
    const relay = this.#relays.get(key)?.relay;
    if (relay === undefined || state === undefined) return;
    if (state.state !== 'paused' && (state.broadcast === '' || state.broadcast === relay.broadcast)) return;
    this.#relays.delete(key);
    relay.cut();
  }

  /**
   * Limits the media that relays keep for new viewers: relays of domains that hold more than their share drop theirs.
   */
  empty(maxBytes = MAX_KEPT_BYTES): void {
    const holdings = [...this.#relays].flatMap(([key, { relay }]) =>
      relay === undefined ? [] : [{ relay, domainId: Number.parseInt(key, 10), bytes: relay.bytesHeld }],
    );
    for (const { relay } of chooseEmptied(holdings, maxBytes)) relay.empty();
  }

  /** Ends the stream for all viewers. */
  close(): void {
    for (const { relay } of this.#relays.values()) relay?.end();
    this.#relays.clear();
  }
}
