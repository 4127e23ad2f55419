/** The broadcasts that this worker's viewers watch: all viewers of one share a connection to the live process. */
import type { IncomingMessage } from 'node:http';
import { chooseEmptied } from '#fanout/emptied.ts';
import type { HubViewer } from '#fanout/encoding.ts';
import { HUB_LIMITS, Hub, type HubLimits } from '#fanout/hub.ts';
import { FlvReader } from '#fanout/media/flv.ts';
import type { Logger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import { type StreamName, streamKey } from '#sites/live.ts';
import type { OwnerClient, PullingViewer } from './owner-client.ts';
import type { KnownStream, StreamTable } from './stream-table.ts';

export type OpenedRelay =
  /** `isFirst`: this call has opened the connection. */
  | { readonly kind: 'relay'; readonly relay: Relay; readonly isFirst: boolean }
  /** The origin has an ordinary file there. */
  | { readonly kind: 'file' }
  | { readonly kind: 'failed'; readonly status: number };

/** How long a relay outlives its last viewer, for a viewer that returns soon. */
const IDLE_MS = 2_000;
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

export class Relay {
  readonly broadcast: string;
  readonly #answer: IncomingMessage;
  readonly #hub: Hub;
  #idle: NodeJS.Timeout | undefined;
  readonly #reader = new FlvReader();
  #isOver = false;

  constructor(answer: IncomingMessage, limits: HubLimits) {
    this.#answer = answer;
    this.broadcast = String(answer.headers['causeway-broadcast'] ?? '');
    this.#hub = new Hub({ limits, timers: systemTimers });
    this.#startIdle();
  }

  get bytesHeld(): number {
    return this.#hub.bytesHeld + this.#reader.partialBytes;
  }

  /** Drops the kept media: new viewers wait for the next key frame. */
  empty(): void {
    this.#hub.empty();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  attach(viewer: HubViewer): { detach(): void } {
    if (this.#isOver) {
      viewer.cut();
      return { detach: () => undefined };
    }
    clearTimeout(this.#idle);
    const seat = this.#hub.attach(viewer);
    const detach = () => {
      seat.detach();
      if (!this.#isOver && this.#hub.viewers === 0) this.#startIdle();
    };
    return { detach };
  }

  /** Resolves at the end of the relay, with the error that ended it, if any. Never rejects. */
  run(): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const fail = (error: unknown) => {
      if (this.#isOver) return;
      this.cut();
      resolve(error);
    };
    this.#answer.on('data', (bytes: Buffer) => {
      if (this.#isOver) return;
      try {
        for (const message of this.#reader.push(bytes)) this.#hub.push(message);
      } catch (error) {
        fail(error);
      }
    });
    this.#answer.once('end', () => this.end());
    this.#answer.once('error', fail);
    this.#answer.once('close', () => {
      fail(new Error('the connection to the live process closed'));
      resolve(undefined);
    });
    return promise;
  }

  cut(): void {
    this.#stop();
    this.#hub.cut();
  }

  end(): void {
    this.#stop();
    this.#hub.end();
  }

  #stop(): void {
    this.#isOver = true;
    clearTimeout(this.#idle);
    this.#answer.destroy();
  }

  #startIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.end(), IDLE_MS);
  }
}
