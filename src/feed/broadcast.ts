/**
 * Carries what is published to the open streams. Each client stands at a revision; whoever is at the same one gets the same
 * text, made once. Never more than one round at a time.
 */
import type { ServerResponse } from 'node:http';
import type { Db } from '#db/open.ts';
import { changesSince, type Head, readHead } from '#db/resources.ts';
import { formatChange } from './snapshot.ts';
import { formatEvent, HEARTBEAT } from './sse.ts';

/** A client that has left this much unread is dropped; it comes back with the revision it has. */
const MAX_UNSENT_BYTES = 8 * 1024 * 1024;
/** Resources in one delta; a client that is further behind gets the next when it has read this one. */
const MAX_DELTA_ROWS = 250;

export interface Broadcast {
  /** Says `reset` and ends the stream at once when changes alone cannot bring this client up to date. */
  add(client: ServerResponse, at: { readonly epoch: string; readonly revision: number }): Promise<void>;
  /** Sends what is new. Rejects when the database does not answer; the next call makes up for it. */
  round(): Promise<void>;
  heartbeat(): void;
  readonly clientCount: number;
  /** The newest revision that a round saw. */
  readonly revision: number;
  close(): void;
}

export function createBroadcast(db: Db): Broadcast {
  return new StreamBroadcast(db);
}

interface Client {
  readonly response: ServerResponse;
  readonly epoch: string;
  revision: number;
  /** Its last delta did not reach the head: it gets the next one when it has read that. */
  isCatchingUp: boolean;
}

class StreamBroadcast implements Broadcast {
  readonly #db: Db;
  readonly #clients = new Set<Client>();
  #running: Promise<void> | undefined;
  #isAskedAgain = false;
  #revision = 0;

  constructor(db: Db) {
    this.#db = db;
  }

  get revision(): number {
    return this.#revision;
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  async add(response: ServerResponse, at: { readonly epoch: string; readonly revision: number }): Promise<void> {
    const client: Client = { response, ...at, isCatchingUp: false };
    this.#clients.add(client);
    response.on('close', () => this.#clients.delete(client));
    response.on('drain', () => {
      // A round that fails here is made up for by the next.
      if (client.isCatchingUp) this.round().catch(() => undefined);
    });
    await this.round();
    if (this.#clients.has(client)) this.#send(client, HEARTBEAT);
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
    for (const client of this.#clients) this.#send(client, HEARTBEAT);
  }

  close(): void {
    for (const { response } of this.#clients) response.destroy();
    this.#clients.clear();
  }

  async #rounds(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      const head = await readHead(this.#db.query);
      this.#revision = head.revision;
      for (const client of this.#clients) if (!canFollow(client, head)) this.#reset(client);
      await this.#advance(head);
    } while (this.#isAskedAgain);
  }

  /** Until everyone is at the head, or has to read first. */
  async #advance(head: Head): Promise<void> {
    for (;;) {
      const behind = [...this.#clients].filter((client) => client.revision < head.revision && isReady(client));
      if (behind.length === 0) return;
      for (const [from, clients] of Map.groupBy(behind, (client) => client.revision)) {
        const { to, rows } = await changesSince(this.#db.query, { from, to: head.revision, limit: MAX_DELTA_ROWS });
        const data = `{"from":${from},"to":${to},"changes":[${rows.map(formatChange).join(',')}]}`;
        const text = formatEvent({ id: to, name: 'delta', data });
        for (const client of clients) {
          this.#send(client, text);
          client.revision = to;
          client.isCatchingUp = to < head.revision;
        }
      }
    }
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
    this.#clients.delete(client);
    client.response.end(formatEvent({ name: 'reset', data: '{}' }));
  }
}

/** What a client has of another epoch, what was pruned since, and what is not there yet cannot be told as changes. */
function canFollow(client: Client, head: Head): boolean {
  return client.epoch === head.epoch && client.revision >= head.minRevision && client.revision <= head.revision;
}

function isReady({ response, isCatchingUp }: Client): boolean {
  return !isCatchingUp || !response.writableNeedDrain;
}
