/**
 * Sends published changes to the open streams. Clients at the same position share a text, which is made once. Rounds
 * never overlap.
 */
import type { KeyObject } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '#db/open.ts';
import { type ConfigHead, readConfigHead } from '#db/tables/resources.ts';
import { isInHistory } from '#db/tables/revision-tags.ts';
import type { Clock } from '#lib/clock.ts';
import { createSharedRuns } from '#lib/shared-runs.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import { MAX_SPREAD_MS } from '../wire/protocol.ts';
import { formatComment, formatEvent, HEARTBEAT } from '../wire/sse.ts';
import type { AskedEdges } from './asks.ts';
import { createDeltaMaker, type DeltaEvent, type DeltaSources } from './delta-maker.ts';
import type { OpenStream } from './liveness.ts';
import type { Peer } from './peer.ts';
import { readViews, type View } from './views.ts';

/** Time per edge over which the edges of a control reconnect after it ends. docs/decisions/0591 */
const SPREAD_PER_EDGE_MS = 5;
/** Age at which a stream to another machine is replaced by a new one. */
const MAX_STREAM_AGE_MS = 24 * 3600 * 1000;
/** Time by which an edge may leave later than announced. */
const LATE_MS = 5000;
/** Time for the last messages of this control to reach its edges. */
const GOODBYE_MS = 500;
/** Unread bytes at which a client is dropped; it reconnects with the revision that it has. */
const MAX_UNSENT_BYTES = 8 * 1024 * 1024;
/** Shortest interval of deltas without changes to a view: less than that of the rounds, so that none is missed. */
const EMPTY_DELTA_MS = 900;

export interface ChangeBroadcast {
  /** Adds a client. If changes alone cannot bring it up to date, sends `reset` and ends the stream at once. */
  add(client: ServerResponse, at: FeedPosition, remote: RemoteClient | undefined): Promise<void>;
  /** Sends new changes. Rejects if the database does not answer; the next call sends what was missed. */
  round(): Promise<void>;
  heartbeat(): void;
  readonly clientCount: number;
  /** Number of clients on other machines. */
  readonly remoteCount: number;
  /** Streams to other machines. */
  remoteStreams(): readonly OpenStream[];
  /** Sends an event to the edges that are asked. Returns their number. */
  sendTo(event: string, asked: AskedEdges): number;
  /** The newest revision that a round saw. */
  readonly revision: number;
  /** Whether `close` has begun: no client is to be added. */
  readonly isClosing: boolean;
  /**
   * Ends all streams; edges on other machines learn within which time they are to turn to another control. `followMs`:
   * limit of the time for which they are followed until they have left; 0: their streams end at once.
   */
  close(followMs: number): Promise<void>;
}

/** An edge on another machine. */
interface RemoteClient {
  readonly peer: Peer;
  /** Id of the view that the edge has; empty if it has none. */
  readonly view: string;
  /** X25519 public key that view keys are sealed to. */
  readonly sealKey: KeyObject;
}

export interface ChangeBroadcastOptions extends DeltaSources {
  readonly clock: Clock;
  /** Events for an edge whose stream has just been opened. */
  readonly greetings: (isMeant: (asked: AskedEdges) => boolean) => readonly string[];
}

export function createBroadcast(options: ChangeBroadcastOptions): ChangeBroadcast {
  return new StreamBroadcast(options);
}

interface Client {
  readonly response: ServerResponse;
  /** Absent for an edge of this machine. */
  readonly remote: RemoteClient | undefined;
  /** Id of the view key that was sent last. */
  vk: string | undefined;
  /** Absent for an edge of this machine, which sees everything. */
  readonly view: View | undefined;
  readonly openedAt: number;
  at: FeedPosition;
  /** Whether the last delta did not reach the head, so that the next one follows when the client has read it. */
  isCatchingUp: boolean;
}

class StreamBroadcast implements ChangeBroadcast {
  readonly #db: Db;
  readonly #sources: DeltaSources;
  readonly #clock: Clock;
  readonly #greetings: ChangeBroadcastOptions['greetings'];
  readonly #clients = new Set<Client>();
  /** When the position of a group was last moved by a delta without changes. */
  readonly #movedAt = new Map<string, number>();
  readonly #runRound = createSharedRuns(() => this.#round());
  #remoteCount = 0;
  /** Called when a client has gone while all are to leave. */
  #onGone: (() => void) | undefined;
  #isClosing = false;
  #revision = 0;

  constructor({ clock, greetings, ...sources }: ChangeBroadcastOptions) {
    this.#db = sources.db;
    this.#sources = sources;
    this.#clock = clock;
    this.#greetings = greetings;
  }

  get revision(): number {
    return this.#revision;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  get remoteCount(): number {
    return this.#remoteCount;
  }

  async add(response: ServerResponse, at: FeedPosition, remote: RemoteClient | undefined): Promise<void> {
    const view = remote && { group: remote.peer.group, id: remote.view };
    const client: Client = {
      response,
      remote,
      view,
      vk: undefined,
      openedAt: this.#clock(),
      at,
      isCatchingUp: false,
    };
    this.#clients.add(client);
    if (remote !== undefined) this.#remoteCount += 1;
    response.on('close', () => {
      this.#remove(client);
      this.#onGone?.();
    });
    response.on('drain', () => {
      // The next round makes up for a failed one.
      if (client.isCatchingUp) this.round().catch(() => undefined);
    });
    await this.round();
    if (!this.#clients.has(client)) return;
    this.#send(client, remote === undefined ? HEARTBEAT : formatSpread(this.remoteCount));
    for (const event of this.#greetings((asked) => isMeant(client, asked))) this.#send(client, event);
  }

  round(): Promise<void> {
    return this.#runRound();
  }

  heartbeat(): void {
    const spread = formatSpread(this.remoteCount);
    for (const client of [...this.#clients]) {
      const age = this.#clock() - client.openedAt;
      if (client.remote === undefined) this.#send(client, HEARTBEAT);
      else if (age > MAX_STREAM_AGE_MS) this.#end(client, GOAWAY_NOW);
      else this.#send(client, spread);
    }
  }

  remoteStreams(): readonly OpenStream[] {
    return [...this.#clients].flatMap(({ remote, openedAt }) =>
      remote === undefined ? [] : { edge: remote.peer.edge, openedAt },
    );
  }

  sendTo(event: string, asked: AskedEdges): number {
    // The edge of this machine first: where one is enough, it is the nearest.
    const meant = [...this.#clients].filter((client) => isMeant(client, asked)).sort(byDistance);
    const chosen = asked.isOne ? meant.slice(0, 1) : meant;
    for (const client of chosen) this.#send(client, event);
    return chosen.length;
  }

  async close(followMs: number): Promise<void> {
    const isFirst = !this.#isClosing;
    this.#isClosing = true;
    const spreadMs = spreadOf(this.remoteCount, followMs === 0 ? MAX_SPREAD_MS : followMs / 2);
    const goaway = formatEvent({ name: 'goaway', data: JSON.stringify({ spreadMs }) });
    const isFollowed = isFirst && followMs > 0;
    if (isFollowed) await this.#letLeave(goaway, Math.min(followMs, spreadMs + LATE_MS));
    const goodbyes = [...this.#clients].map(async (client) => {
      if (client.remote !== undefined) {
        this.#end(client, isFollowed ? '' : goaway);
        await once(client.response, 'close', { signal: AbortSignal.timeout(GOODBYE_MS) }).catch(() => undefined); // late
      }
      client.response.destroy();
    });
    for (const client of [...this.#clients]) this.#remove(client);
    await Promise.all(goodbyes);
  }

  /** Resolves when all edges on other machines have left, or after `limitMs`. */
  async #letLeave(goaway: string, limitMs: number): Promise<void> {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const stop = new AbortController();
    this.#onGone = () => {
      if (this.remoteCount === 0) resolve();
    };
    for (const client of [...this.#clients]) if (client.remote !== undefined) this.#send(client, goaway);
    this.#onGone();
    const late = delay(limitMs, undefined, { signal: stop.signal }).catch(() => undefined); // not late
    await Promise.race([left, late]);
    stop.abort();
  }

  async #round(): Promise<void> {
    const head = await readConfigHead(this.#db.query);
    this.#revision = head.revision;
    // A client that is added meanwhile waits for the next round: its position has not been checked.
    const present = [...this.#clients];
    for (const clients of groupByPlace(present.filter(({ at }) => !isSamePosition(at, head)))) {
      if (!(await this.#canFollow(clients[0].at, head))) for (const client of clients) this.#reset(client);
    }
    await this.#resetViews(present);
    await this.#advance(present, head);
  }

  /** Ends streams of edges whose view is no longer that of their group: they take a snapshot. */
  async #resetViews(present: readonly Client[]): Promise<void> {
    const remote = present.filter((client) => client.view !== undefined && this.#clients.has(client));
    if (remote.length === 0) return;
    const views = await readViews(this.#db.query);
    for (const client of remote) if (client.view?.id !== views(client.view?.group ?? '').id) this.#reset(client);
  }

  /** Advances these clients until each is at the head or must first read the bytes sent to it. */
  async #advance(present: readonly Client[], head: ConfigHead): Promise<void> {
    const maker = createDeltaMaker(this.#sources, head);
    const held = new Set<Client>();
    for (;;) {
      const behind = present.filter(
        (client) =>
          client.at.revision < head.revision && this.#clients.has(client) && isReady(client) && !held.has(client),
      );
      if (behind.length === 0) return;
      for (const clients of groupByPlace(behind)) {
        const { at, view } = clients[0];
        const delta = await maker.make(at.revision, view);
        if (this.#canWait(delta, view, head)) for (const client of clients) held.add(client);
        else await this.#sendDelta(clients, delta, head);
      }
    }
  }

  /** Sends the view key first to each client that does not have it yet and is not suspect. */
  async #sendDelta(clients: readonly Client[], { at, bytes, vk }: DeltaEvent, head: ConfigHead): Promise<void> {
    const lacksKey = (client: Client) => client.remote !== undefined && vk !== client.vk;
    const suspects = vk !== undefined && clients.some(lacksKey) ? await this.#sources.sealer.suspects() : NONE;
    for (const client of clients) {
      if (vk !== undefined && lacksKey(client) && !suspects.has(client.remote?.peer.edge ?? ''))
        await this.#sendKey(client, vk);
      this.#send(client, bytes);
      client.at = at;
      client.isCatchingUp = at.revision < head.revision;
    }
  }

  async #sendKey(client: Client, vk: string): Promise<void> {
    if (client.remote === undefined) return;
    const { peer, sealKey } = client.remote;
    for (const key of await this.#sources.sealer.sealTo(peer, sealKey, [vk]))
      this.#send(client, formatEvent({ name: 'viewkey', data: JSON.stringify(key) }));
    client.vk = vk;
  }

  /** A delta that only moves the position of a view is sent once a second: other groups may have many changes. */
  #canWait({ at, isEmpty }: DeltaEvent, view: View | undefined, head: ConfigHead): boolean {
    if (view === undefined || !isEmpty || at.revision < head.revision) return false;
    const now = this.#clock();
    if (Math.abs(now - (this.#movedAt.get(view.group) ?? 0)) < EMPTY_DELTA_MS) return true;
    this.#movedAt.set(view.group, now);
    return false;
  }

  /**
   * Whether changes alone bring a client that is not at the head there: not from another history, a future revision, or
   * one older than the pruned changes.
   */
  async #canFollow(at: FeedPosition, head: ConfigHead): Promise<boolean> {
    if (at.epoch !== head.epoch || at.revision < head.minRevision) return false;
    return at.revision !== head.revision && (await isInHistory(this.#db.query, at));
  }

  #send(client: Client, text: string | Buffer): void {
    if (client.response.writableLength > MAX_UNSENT_BYTES) this.#drop(client);
    else client.response.write(text);
  }

  #drop(client: Client): void {
    this.#remove(client);
    client.response.destroy();
  }

  #reset(client: Client): void {
    this.#end(client, formatEvent({ name: 'reset', data: '{}' }));
  }

  #end(client: Client, lastWords: string): void {
    this.#remove(client);
    client.response.end(lastWords);
  }

  #remove(client: Client): void {
    if (this.#clients.delete(client) && client.remote !== undefined) this.#remoteCount -= 1;
  }
}

function isMeant({ remote }: Client, { groups }: AskedEdges): boolean {
  return remote === undefined || groups.includes(remote.peer.group);
}

function byDistance(a: Client, b: Client): number {
  return Number(a.remote !== undefined) - Number(b.remote !== undefined);
}

const NONE: ReadonlySet<string> = new Set();
const GOAWAY_NOW = formatEvent({ name: 'goaway', data: '{"spreadMs":0}' });

function spreadOf(edges: number, limitMs: number): number {
  return Math.round(Math.min(limitMs, edges * SPREAD_PER_EDGE_MS));
}

function formatSpread(edges: number): string {
  return formatComment(JSON.stringify({ spreadMs: spreadOf(edges, MAX_SPREAD_MS) }));
}

function groupByPlace(clients: Iterable<Client>): Iterable<readonly [Client, ...Client[]]> {
  const groups = Map.groupBy(clients, ({ at, view }) => `${at.epoch} ${at.revision} ${at.tag} ${view?.id}`);
  // `as`: a group has at least the member that made it.
  return groups.values() as Iterable<[Client, ...Client[]]>;
}

function isSamePosition(a: FeedPosition, b: FeedPosition): boolean {
  return a.revision === b.revision && a.tag === b.tag && a.epoch === b.epoch;
}

function isReady({ response, isCatchingUp }: Client): boolean {
  return !isCatchingUp || !response.writableNeedDrain;
}
