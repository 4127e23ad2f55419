/** Opens the database on either engine and migrates it. All writing goes through `transaction`. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '#lib/clock.ts';
import { nameFile } from '#lib/file-error.ts';
import type { Logger } from '#lib/logger.ts';
import { type Engine, openPostgres, openSqlite, sendMessage } from './engines/engine.ts';
import { missing, type Procedures } from './engines/procedures.ts';
import { isDatabaseAway, isWorthAnotherTry } from './failures.ts';
import { migrate } from './migrations/migrations.ts';
import type { Executor, Schema } from './schema/schema.ts';
import { allowBatches, failureOf } from './statements/batch.ts';
import { readConfigHead } from './tables/resources.ts';

/** Limit of tries of a transaction after serialization failures or deadlocks. */
const MAX_TRIES = 5;
const RETRY_MS = 20;

export interface DatabaseOptions {
  /** `postgres://…`; absent: SQLite at `file`. */
  readonly url?: string;
  /** URL for LISTEN, if `url` goes through a pooler in transaction mode. */
  readonly listenUrl?: string;
  readonly file: string;
  readonly log: Logger;
  /** URL of a `ProcedureFile`, whose procedures run in SQLite's thread. Absent: none run there. */
  readonly procedures?: URL;
  /** Whether an SQLite file is only read: nothing about it changes, also its mode. */
  readonly isReader?: boolean;
}

export interface Db extends AsyncDisposable {
  readonly engine: 'sqlite' | 'postgres';
  /**
   * The clock by which everything that is stored is decided. On PostgreSQL that of the server, as last compared: all
   * controls have the same one, whatever their own say. On SQLite that of the process. docs/decisions/0576
   */
  readonly clock: Clock;
  /**
   * Corrects `clock` by what `ask` reads from the server. Returns by how many milliseconds the clock of this machine is
   * ahead of it. On SQLite it asks nothing and returns 0.
   */
  compareClock(ask: () => Promise<number>): Promise<number>;
  /**
   * Runs single statements. Inside `transaction` use the executor that it passes: on SQLite this one would wait
   * forever.
   */
  readonly query: Kysely<Schema>;
  /**
   * Runs the short look-ups at the start of each call: they see committed data and do not wait for transactions. On
   * SQLite they run in the calling thread. docs/decisions/0323
   */
  readonly lookUps: Kysely<Schema>;
  /**
   * Commits when `work` resolves and rolls back when it throws. `work` may run several times, so it must not change
   * anything but the database.
   */
  transaction<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** Present if procedures run in the database's thread: see `callProcedure`. */
  readonly call?: ((name: string, take: () => unknown) => Promise<unknown>) | undefined;
  /** Runs `work` on one consistent state, read only, without blocking writers. */
  snapshot<T>(work: (x: Executor) => Promise<T>): Promise<T>;
  /**
   * Subscribes to hints that something was published; a hint may be late, repeated or missing. Returns the function
   * that unsubscribes.
   */
  onPublish(listener: () => void): () => void;
  /**
   * Subscribes to messages of the other controls of this database, see `tellControls`. Returns the function that
   * unsubscribes. Nothing comes on SQLite, where control is alone.
   */
  onMessage(listener: (message: string) => void): () => void;
  /** Sends a message of at most 7,900 bytes to the other controls of this database; it may be lost. */
  tellControls(message: string): Promise<void>;
}

export async function openDatabase(options: DatabaseOptions): Promise<Db> {
  const engine = await openEngine(options);
  try {
    await migrate(engine.query, engine.words);
    return new OpenDatabase(engine, (await readConfigHead(engine.query)).revision);
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw nameDatabase(options, error);
  }
}

/**
 * Returns the error, with the database's file in its message if SQLite failed because of the disk: SQLite does not name
 * it.
 */
export function nameDatabase({ url, file }: DatabaseOptions, error: unknown): unknown {
  const isOfDisk = isDatabaseAway(error) || (error instanceof Error && isDatabaseAway(error.cause));
  return url === undefined && isOfDisk ? nameFile(file, error) : error;
}

/** Opens the database without migrating it: it may be empty, or at any migration. */
export async function openEngine({ url, listenUrl = url, file, log, ...sqlite }: DatabaseOptions): Promise<Engine> {
  return url === undefined || listenUrl === undefined
    ? openSqlite(file, sqlite)
    : openPostgres({ url, listenUrl, log });
}

/**
 * Runs a procedure in a transaction of its own, as `Db.transaction` does: in SQLite's thread, or here. `procedures`
 * must be those of the file that `db` was opened with, if it was opened with one. `take` returns the arguments once the
 * transaction can begin; it may be called several times.
 */
export function callProcedure<P extends Procedures, N extends keyof P & string>(
  db: Db,
  procedures: P,
  name: N,
  take: () => Parameters<P[N]>[1],
): ReturnType<P[N]> {
  // `as`: the procedure of this name runs in the thread or here, with the same result.
  if (db.call !== undefined) return db.call(name, take) as ReturnType<P[N]>;
  return db.transaction((trx) => procedures[name]?.(trx, take() as never) ?? missing(name)) as ReturnType<P[N]>;
}

/** The database within a transaction that is open: all that is done with it commits or rolls back as a whole. */
export function joinTransaction(db: Db, trx: Transaction<Schema>): Db {
  return {
    engine: db.engine,
    clock: db.clock,
    compareClock: (ask) => db.compareClock(ask),
    query: trx,
    lookUps: db.lookUps,
    transaction: (work) => work(trx),
    snapshot: (work) => work(trx),
    onPublish: (listener) => db.onPublish(listener),
    onMessage: (listener) => db.onMessage(listener),
    tellControls: (message) => db.tellControls(message),
    [Symbol.asyncDispose]: async () => {}, // the database's owner closes it
  };
}

class OpenDatabase implements Db {
  readonly #engine: Engine;
  readonly #listeners = new Set<() => void>();
  readonly #messageListeners = new Set<(message: string) => void>();
  /** Id before each message of this control, which hears itself too. */
  readonly #sender = randomUUID();
  /** Started by the first subscriber: short-lived commands need none. */
  #listening: AsyncDisposable | undefined;
  #seenRevision: number;

  constructor(engine: Engine, revision: number) {
    this.#engine = engine;
    this.#seenRevision = revision;
  }

  get engine(): 'sqlite' | 'postgres' {
    return this.#engine.name;
  }

  get clock(): Clock {
    return this.#engine.clock;
  }

  compareClock(ask: () => Promise<number>): Promise<number> {
    return this.#engine.compareClock(ask);
  }

  get query(): Kysely<Schema> {
    return this.#engine.query;
  }

  get call(): Db['call'] {
    return this.#engine.call;
  }

  get lookUps(): Kysely<Schema> {
    return this.#engine.lookUps;
  }

  async transaction<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        const result = await this.#run(work);
        await this.#wakeAfterCommit();
        return result;
      } catch (error) {
        if (tries === MAX_TRIES || !isWorthAnotherTry(error)) throw error;
        await delay(Math.random() * RETRY_MS * 2 ** tries);
      }
    }
  }

  async #run<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> {
    let begun: Transaction<Schema> | undefined;
    try {
      return await this.#engine.query.transaction().execute(async (trx) => {
        begun = trx;
        await allowBatches(trx);
        return await work(trx);
      });
    } catch (error) {
      throw (begun && failureOf(begun)) ?? error;
    }
  }

  snapshot<T>(work: (x: Executor) => Promise<T>): Promise<T> {
    return this.#engine.snapshot(work);
  }

  onPublish(listener: () => void): () => void {
    this.#listen();
    // One function per subscription, since the same listener may subscribe twice.
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  onMessage(listener: (message: string) => void): () => void {
    this.#listen();
    this.#messageListeners.add(listener);
    return () => this.#messageListeners.delete(listener);
  }

  async tellControls(message: string): Promise<void> {
    await sendMessage(this.#engine.query, `${this.#sender} ${message}`);
  }

  #listen(): void {
    this.#listening ??= this.#engine.listen(
      () => this.#wake(),
      (message) => this.#take(message),
    );
  }

  #take(message: string): void {
    const end = message.indexOf(' ');
    if (message.slice(0, end) === this.#sender) return;
    for (const listener of this.#messageListeners) listener(message.slice(end + 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    this.#messageListeners.clear();
    await this.#listening?.[Symbol.asyncDispose]();
    await this.#engine[Symbol.asyncDispose]();
  }

  /** Compares revisions after each commit, since SQLite has no notifications; a look costs microseconds. */
  async #wakeAfterCommit(): Promise<void> {
    if (this.#engine.name !== 'sqlite' || this.#listeners.size === 0) return;
    const { revision } = await readConfigHead(this.#engine.query);
    if (revision === this.#seenRevision) return;
    this.#seenRevision = revision;
    this.#wake();
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}
