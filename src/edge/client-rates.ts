/**
 * Counts the requests of clients that have a rate limit: one number for each client and limit, in a table of fixed
 * size. The workers of a machine exchange what they have counted. docs/decisions/0635
 */
import { createHash } from 'node:crypto';
import { clientNetwork } from '#lib/cidr.ts';
import type { Clock } from '#lib/clock.ts';
import type { SiteLimit } from '#sites/rate-limits.ts';
import { remember } from '#sites/remember.ts';

export interface ClientRatesOptions {
  /** Secret that all workers of the machine have: nobody else knows which clients share a set of the table. */
  readonly seed: string;
  /** Workers that serve at once. */
  readonly workers: number;
  readonly clock: Clock;
  /** Passes counts on to the other workers' `apply`. */
  readonly tell: (counts: RateCounts) => void;
}

/** A client as the tables of all workers know it: two numbers of 32 bits. */
export interface CountedClient {
  readonly high: number;
  readonly low: number;
}

/** Four numbers for each client and limit: set and tag in the table, milliseconds of one request, requests. */
export type RateCounts = readonly number[];

/** Power of two. With `WAYS` a table of 131,072 clients: 3 MB a worker, made when a limit is first used. */
const SETS = 2 ** 14;
const WAYS = 8;
/** Addresses per generation whose hash is remembered, of which two are kept. */
const MAX_ADDRESSES = 10_000;
/** Pause before counts are told to other workers. */
const TELL_MS = 50;
/** Clients in one message. The others are told with their next request. */
const MAX_TOLD = 2_000;

interface Table {
  /** Identifies the client and limit of a place; 0: free. */
  readonly tags: Int32Array;
  /**
   * Instant at which the client has all its requests back: in the past, nothing is owed. (The generic cell rate
   * algorithm's theoretical arrival time.)
   */
  readonly dueAt: Float64Array;
  readonly intervalMs: Float64Array;
  /** Requests of what is owed that other workers do not know. */
  readonly untold: Uint32Array;
}

export class ClientRates {
  readonly #options: ClientRatesOptions;
  /** Returns the client of an address. Takes some microseconds for one that has not come lately. */
  readonly clientOf: (address: string) => CountedClient;
  #table: Table | undefined;
  /** Places whose counts are to be told. */
  readonly #pending = new Set<number>();
  /** Requests that found no place, and were let through. */
  uncounted = 0;

  constructor(options: ClientRatesOptions) {
    this.#options = options;
    this.clientOf = remember((address) => {
      const digest = createHash('sha256')
        .update(`${options.seed} ${clientNetwork(address)}`)
        .digest();
      return { high: digest.readInt32LE(0), low: digest.readInt32LE(4) };
    }, MAX_ADDRESSES);
  }

  /** Takes one request. Returns 0, or milliseconds until the client may ask again; then nothing was taken. */
  take(limit: SiteLimit, client: CountedClient, now: number): number {
    this.#table ??= createTable();
    const table = this.#table;
    const { intervalMs, burst } = limit;
    const { set, tag } = placeOf(limit, client);
    const known = find(table, set, tag);
    if (known === -1) {
      const at = this.#claim(table, { set, tag, intervalMs }, now);
      if (at !== -1) this.#add(table, at, limit, now, now);
      return 0;
    }
    const dueAt = dueOf(table, known, limit, now);
    const waitMs = waitFor(dueAt, limit, now);
    if (waitMs > 0) {
      table.dueAt[known] = dueAt;
      return waitMs;
    }
    this.#add(table, known, { intervalMs, burst }, dueAt, now);
    return 0;
  }

  /** What `take` would return now. */
  waitMs(limit: SiteLimit, client: CountedClient, now: number): number {
    const table = this.#table;
    const { set, tag } = placeOf(limit, client);
    const at = table === undefined ? -1 : find(table, set, tag);
    return table === undefined || at === -1 ? 0 : waitFor(dueOf(table, at, limit, now), limit, now);
  }

  /** Adds what another worker has counted. */
  apply(counts: RateCounts): void {
    this.#table ??= createTable();
    const table = this.#table;
    const now = this.#options.clock();
    for (let i = 0; i + 3 < counts.length; i += 4) {
      const [set = 0, tag = 0, intervalMs = 0, requests = 0] = counts.slice(i, i + 4);
      const known = find(table, set, tag);
      const at = known === -1 ? this.#claim(table, { set, tag, intervalMs }, now) : known;
      if (at !== -1) table.dueAt[at] = Math.max(table.dueAt[at] ?? 0, now) + requests * intervalMs;
    }
  }

  #add(
    table: Table,
    at: number,
    { intervalMs, burst }: Pick<SiteLimit, 'intervalMs' | 'burst'>,
    from: number,
    now: number,
  ): void {
    const dueAt = from + intervalMs;
    const owed = Math.ceil((dueAt - now) / intervalMs);
    const untold = Math.min((table.untold[at] ?? 0) + 1, owed);
    table.dueAt[at] = dueAt;
    table.untold[at] = untold;
    // A client that stays below its rate owes little, and is never told.
    if (untold >= burst / (2 * this.#options.workers) && this.#pending.size < MAX_TOLD) this.#tellSoon(at);
  }

  #tellSoon(at: number): void {
    if (this.#pending.size === 0) setTimeout(() => this.#tell(), TELL_MS).unref();
    this.#pending.add(at);
  }

  #tell(): void {
    const table = this.#table;
    const counts: number[] = [];
    for (const at of this.#pending) {
      const untold = table?.untold[at] ?? 0;
      if (table === undefined || untold === 0) continue; // another client has its place
      counts.push(Math.floor(at / WAYS), table.tags[at] ?? 0, table.intervalMs[at] ?? 0, untold);
      table.untold[at] = 0;
    }
    this.#pending.clear();
    if (counts.length > 0) this.#options.tell(counts);
  }

  /**
   * Returns a place for a new client: a free one, or that of a client that owes nothing. Where all places of the set
   * are taken, the client that owes the fewest requests is forgiven one, and -1 is returned.
   */
  #claim(
    table: Table,
    { set, tag, intervalMs }: { readonly set: number; readonly tag: number; readonly intervalMs: number },
    now: number,
  ): number {
    let least = -1;
    let leastOwed = Number.POSITIVE_INFINITY;
    for (let at = set * WAYS; at < (set + 1) * WAYS; at++) {
      const owed = ((table.dueAt[at] ?? 0) - now) / (table.intervalMs[at] ?? 1);
      if (owed < leastOwed) [least, leastOwed] = [at, owed];
    }
    if (leastOwed > 1) {
      table.dueAt[least] = (table.dueAt[least] ?? 0) - (table.intervalMs[least] ?? 0);
      this.uncounted += 1;
      return -1;
    }
    table.tags[least] = tag;
    table.dueAt[least] = now;
    table.intervalMs[least] = intervalMs;
    table.untold[least] = 0;
    return least;
  }
}

function createTable(): Table {
  const places = SETS * WAYS;
  return {
    tags: new Int32Array(places),
    dueAt: new Float64Array(places),
    intervalMs: new Float64Array(places).fill(1),
    untold: new Uint32Array(places),
  };
}

function placeOf({ high, low }: SiteLimit, client: CountedClient): { readonly set: number; readonly tag: number } {
  return { set: (high ^ client.high) & (SETS - 1), tag: low ^ client.low || 1 };
}

function find({ tags }: Table, set: number, tag: number): number {
  const end = (set + 1) * WAYS;
  for (let at = set * WAYS; at < end; at++) if (tags[at] === tag) return at;
  return -1;
}

/**
 * Returns when nothing is owed any more, at least `now`. Nobody owes more than two bursts: several workers may each have
 * let one through before they heard of the others, and a clock may be set back.
 */
function dueOf({ dueAt }: Table, at: number, { intervalMs, burst }: SiteLimit, now: number): number {
  return Math.min(Math.max(dueAt[at] ?? 0, now), now + 2 * burst * intervalMs);
}

/** Milliseconds until one more request fits into the burst; half an interval early, so that rounding refuses nobody. */
function waitFor(dueAt: number, { intervalMs, burst }: SiteLimit, now: number): number {
  const owedMs = dueAt - now;
  return owedMs < (burst - 0.5) * intervalMs ? 0 : Math.max(1, Math.ceil(owedMs - (burst - 1) * intervalMs));
}
