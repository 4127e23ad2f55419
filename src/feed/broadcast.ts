/**
 * Sends published changes to the open streams. Clients at the same position share a text, which is made once. Rounds
 * never overlap.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Db } from '#db/open.ts';
import { type ConfigHead, changesSince, readConfigHead } from '#db/tables/resources.ts';
import { isInHistory, readRevisionTag } from '#db/tables/revision-tags.ts';
import type { Clock } from '#lib/clock.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import type { UnsealBody } from './open-secrets.ts';
import type { Peer } from './peer.ts';
import { MAX_SPREAD_MS } from './protocol.ts';
import { formatChange } from './snapshot.ts';
import { formatComment, formatEvent, HEARTBEAT } from './sse.ts';

/** Time that the edges of a control get to come back after its end, for each of them. docs/decisions/0591 */
const SPREAD_PER_EDGE_MS = 5;
/** Age at which a stream to another machine is to be opened anew. */
const MAX_STREAM_AGE_MS = 24 * 3600 * 1000;
/** Time that the last words of this control get to reach its edges. */
const GOODBYE_MS = 500;
/** Unread bytes at which a client is dropped; it reconnects with the revision that it has. */
const MAX_UNSENT_BYTES = 8 * 1024 * 1024;
/** Resources in one delta; a client that is further behind gets the next one when it has read this one. */
const MAX_DELTA_ROWS = 250;

export interface ChangeBroadcast {
  /** Adds a client. If changes alone cannot bring it up to date, sends `reset` and ends the stream at once. */
  add(client: ServerResponse, at: FeedPosition, peer: Peer | undefined): Promise<void>;
  /** Sends new changes. Rejects if the database does not answer; the next call makes up for it. */
  round(): Promise<void>;
  heartbeat(): void;
  readonly clientCount: number;
  /** Number of clients on other machines. */
  readonly remoteCount: number;
  /** Ends the streams of an edge on another machine. */
  cut(edge: string): void;
  /** The newest revision that a round saw. */
  readonly revision: number;
  /** Ends all streams; edges on other machines learn over which time they are to come back. */
  close(): Promise<void>;
}

export interface ChangeBroadcastOptions {
  readonly db: Db;
  readonly openBody: UnsealBody;
  readonly clock: Clock;
}

export function createBroadcast(options: ChangeBroadcastOptions): ChangeBroadcast {
  return new StreamBroadcast(options);
}

interface Client {
  readonly response: ServerResponse;
  /** Absent for an edge of this machine. */
  readonly peer: Peer | undefined;
  readonly openedAt: number;
  at: FeedPosition;
  /** Whether the last delta did not reach the head, so that the next one follows when the client has read it. */
  isCatchingUp: boolean;
}

class StreamBroadcast implements ChangeBroadcast {
  readonly #db: Db;
  readonly #openBody: UnsealBody;
  readonly #clock: Clock;
  readonly #clients = new Set<Client>();
  #running: Promise<void> | undefined;
  #isAskedAgain = false;
  #revision = 0;

  constructor({ db, openBody, clock }: ChangeBroadcastOptions) {
    this.#db = db;
    this.#openBody = openBody;
    this.#clock = clock;
  }

  get revision(): number {
    return this.#revision;
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  get remoteCount(): number {
    return [...this.#clients].filter(isRemote).length;
  }

  async add(response: ServerResponse, at: FeedPosition, peer: Peer | undefined): Promise<void> {
    const client: Client = { response, peer, openedAt: this.#clock(), at, isCatchingUp: false };
    this.#clients.add(client);
    response.on('close', () => this.#clients.delete(client));
    response.on('drain', () => {
      // The next round makes up for a failed one.
      if (client.isCatchingUp) this.round().catch(() => undefined);
    });
    await this.round();
    if (this.#clients.has(client)) this.#send(client, peer === undefined ? HEARTBEAT : formatSpread(this.remoteCount));
  }

  round(): Promise<void> {
    if (this.#running !== undefined) {
      this.#isAskedAgain = true;
      return this.#running;
    }
    this.#running = this.#rounds().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  heartbeat(): void {
    const spread = formatSpread(this.remoteCount);
    for (const client of [...this.#clients]) {
      const age = this.#clock() - client.openedAt;
      if (client.peer === undefined) this.#send(client, HEARTBEAT);
      else if (age > MAX_STREAM_AGE_MS) this.#end(client, formatGoaway(0));
      else this.#send(client, spread);
    }
  }

  cut(edge: string): void {
    for (const client of [...this.#clients]) if (client.peer?.edge === edge) this.#drop(client);
  }

  async close(): Promise<void> {
    const goaway = formatGoaway(this.remoteCount);
    const goodbyes = [...this.#clients].map(async (client) => {
      if (client.peer !== undefined) {
        this.#end(client, goaway);
        await once(client.response, 'close', { signal: AbortSignal.timeout(GOODBYE_MS) }).catch(() => undefined); // late
      }
      client.response.destroy();
    });
    this.#clients.clear();
    await Promise.all(goodbyes);
  }

  async #rounds(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      const head = await readConfigHead(this.#db.query);
      this.#revision = head.revision;
      for (const clients of groupByPlace(this.#clients)) {
        if (!(await this.#canFollow(clients[0].at, head))) for (const client of clients) this.#reset(client);
      }
      await this.#advance(head);
    } while (this.#isAskedAgain);
  }

  /** Advances clients until each is at the head or must first read the bytes sent to it. */
  async #advance(head: ConfigHead): Promise<void> {
    for (;;) {
      const behind = [...this.#clients].filter((client) => client.at.revision < head.revision && isReady(client));
      if (behind.length === 0) return;
      for (const clients of groupByPlace(behind)) {
        const { at, text } = await this.#makeDelta(clients[0].at.revision, head);
        for (const client of clients) {
          this.#send(client, text);
          client.at = at;
          client.isCatchingUp = at.revision < head.revision;
        }
      }
    }
  }

  async #makeDelta(from: number, head: ConfigHead): Promise<{ readonly at: FeedPosition; readonly text: string }> {
    const { to, rows } = await changesSince(this.#db.query, { from, to: head.revision, limit: MAX_DELTA_ROWS });
    const tag = to === head.revision ? head.tag : await readRevisionTag(this.#db.query, to);
    const changes = rows.map((row) => formatChange(row, this.#openBody)).join(',');
    const data = `{"from":${from},"to":${to},"tag":${JSON.stringify(tag)},"changes":[${changes}]}`;
    return { at: { epoch: head.epoch, revision: to, tag }, text: formatEvent({ id: to, name: 'delta', data }) };
  }

  /**
   * Whether changes alone bring a client to the head: not from another history, a future revision, or one older than
   * the pruned changes.
   */
  async #canFollow(at: FeedPosition, head: ConfigHead): Promise<boolean> {
    if (at.epoch !== head.epoch || at.revision < head.minRevision) return false;
    return at.revision === head.revision ? at.tag === head.tag : await isInHistory(this.#db.query, at);
  }

  #send(client: Client, text: string): void {
    if (client.response.writableLength > MAX_UNSENT_BYTES) this.#drop(client);
    else client.response.write(text);
  }

  #drop(client: Client): void {
    this.#clients.delete(client);
    client.response.destroy();
  }

  #reset(client: Client): void {
    this.#end(client, formatEvent({ name: 'reset', data: '{}' }));
  }

  #end(client: Client, lastWords: string): void {
    this.#clients.delete(client);
    client.response.end(lastWords);
  }
}

function isRemote({ peer }: Client): boolean {
  return peer !== undefined;
}

function spreadOf(edges: number): string {
  return JSON.stringify({ spreadMs: Math.min(MAX_SPREAD_MS, edges * SPREAD_PER_EDGE_MS) });
}

function formatSpread(edges: number): string {
  return formatComment(spreadOf(edges));
}

function formatGoaway(edges: number): string {
  return formatEvent({ name: 'goaway', data: spreadOf(edges) });
}

function groupByPlace(clients: Iterable<Client>): Iterable<readonly [Client, ...Client[]]> {
  const groups = Map.groupBy(clients, ({ at }) => `${at.epoch} ${at.revision} ${at.tag}`);
  // `as`: a group has at least the member that made it.
  return groups.values() as Iterable<[Client, ...Client[]]>;
}

function isReady({ response, isCatchingUp }: Client): boolean {
  return !isCatchingUp || !response.writableNeedDrain;
}
