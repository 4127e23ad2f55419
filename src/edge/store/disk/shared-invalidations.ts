/**
 * Times of invalidations, shared by all workers of a cache directory and kept over restarts: an SQLite file, with a
 * copy in the memory of each worker. Instants only move forward, in one transaction, so that an invalidation is never
 * undone. docs/decisions/0072, docs/decisions/0550
 */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { closeToOthers, inTransaction, isDamage } from '#lib/sqlite-file.ts';
import type { KeyHash } from '../key-hash.ts';
import { InvalidationMirror } from './invalidation-mirror.ts';

/** Limit of a writer's wait for another; a write takes some tens of microseconds. */
const BUSY_MS = 500;
const OPEN_ATTEMPTS = 5;
/** Limit of keys in memory, about 10 MB per worker. */
const MAX_MIRRORED = 100_000;

export interface InvalidatedKey {
  readonly hash: KeyHash;
  readonly at: number;
}

export class SharedInvalidations {
  readonly #file: string;
  readonly #inode: number;
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;
  readonly #news: StatementSync;
  readonly #version: StatementSync;
  readonly #limits: StatementSync;
  readonly #mirror: InvalidationMirror;
  #seenVersion: unknown;
  #seenSequence: number;
  #floor = 0;

  /**
   * Opens the file, and recreates it if it is missing or damaged. Throws if the directory cannot be used. `maxMirrored`
   * limits the keys kept in memory; others are looked up in the file.
   */
  constructor(file: string, maxMirrored = MAX_MIRRORED) {
    this.#file = file;
    this.#database = openDatabase(file);
    this.#inode = statSync(file).ino;
    this.#find = this.#database.prepare('SELECT at FROM invalidated WHERE hash = ?');
    this.#news = this.#database.prepare(
      'SELECT hash, at, sequence FROM invalidated WHERE sequence > ? ORDER BY sequence',
    );
    this.#version = this.#database.prepare('PRAGMA data_version');
    this.#limits = this.#database.prepare('SELECT floor, (SELECT min(sequence) FROM invalidated) AS oldest FROM state');
    const sequence = Number(this.#database.prepare('SELECT sequence FROM state').get()?.['sequence']);
    this.#seenSequence = Math.max(0, sequence - maxMirrored);
    this.#mirror = new InvalidationMirror(maxMirrored, this.#seenSequence + 1);
    this.refresh();
  }

  /** Identifies the objects that belong to this file. */
  get generation(): string {
    return String(this.#database.prepare('SELECT generation FROM state').get()?.['generation']);
  }

  /** Whether the file is still in place, neither removed nor replaced. */
  get isCurrent(): boolean {
    return statSync(this.#file, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  /**
   * Returns the key's latest invalidation as of the last `refresh`, this worker's own later ones included; `undefined`
   * if there is none.
   */
  at(hash: KeyHash): number | undefined {
    const at = this.#mirror.at(hash);
    if (at !== undefined || this.#mirror.isComplete) return at;
    const row = this.#find.get(hash);
    return row === undefined ? undefined : Number(row['at']);
  }

  /** Returns the keys in memory as of the last `refresh`, this worker's own later ones included. */
  known(): Iterable<InvalidatedKey> {
    return this.#mirror.all();
  }

  /** Records an invalidation. If the key has one already, the later instant counts. */
  record(hash: KeyHash, at: number): void {
    this.recordAll([{ hash, at }]);
  }

  /** Records all of them or none. If a key has an invalidation already, the later instant counts. */
  recordAll(keys: readonly InvalidatedKey[]): void {
    this.#transaction(() => {
      for (const { hash, at } of keys) this.#recordOne(hash, at);
    });
  }

  #recordOne(hash: KeyHash, at: number): void {
    this.#database.exec('UPDATE state SET sequence = sequence + 1');
    const row = this.#database
      .prepare(
        `INSERT INTO invalidated (hash, at, sequence) VALUES (?, ?, (SELECT sequence FROM state))
         ON CONFLICT (hash) DO UPDATE SET at = max(at, excluded.at), sequence = excluded.sequence
         RETURNING at, sequence`,
      )
      .get(hash, at);
    // `data_version` does not change for writes of this connection.
    this.#mirror.set(hash, Number(row?.['at'] ?? at), Number(row?.['sequence'] ?? 0));
  }

  /**
   * Reads changes since the last call, and returns the new invalidations: those of other workers, and sometimes this
   * worker's own. Takes some microseconds if there are none.
   */
  refresh(): readonly InvalidatedKey[] {
    const version = this.#version.get()?.['data_version'];
    if (version === this.#seenVersion) return [];
    const news = this.#news
      .all(this.#seenSequence)
      .map((row) => ({ hash: String(row['hash']), at: Number(row['at']), sequence: Number(row['sequence']) }));
    for (const { hash, at, sequence } of news) this.#mirror.set(hash, at, sequence);
    this.#seenSequence = news.at(-1)?.sequence ?? this.#seenSequence;
    this.#readLimits();
    this.#seenVersion = version;
    return news;
  }

  /**
   * Epoch milliseconds, as of the last `refresh`. A response requested at or before it must not be stored: an
   * invalidation of its key may have been forgotten.
   */
  get floor(): number {
    return this.#floor;
  }

  /**
   * Returns at most `limit` keys to forget, the oldest first: those invalidated before `before`, or any if there are
   * more than `maxKeys`.
   */
  oldest(before: number, maxKeys: number, limit: number): readonly InvalidatedKey[] {
    const count = Number(this.#database.prepare('SELECT count(*) AS n FROM invalidated').get()?.['n']);
    const isOver = count > maxKeys ? 1 : 0;
    const rows = this.#database
      .prepare('SELECT hash, at FROM invalidated WHERE at < ? OR ? = 1 ORDER BY sequence LIMIT ?')
      .all(before, isOver, limit);
    return rows.map((row) => ({ hash: String(row['hash']), at: Number(row['at']) }));
  }

  /** Forgets invalidations. Allowed only if no response that they cover is stored any more. */
  forget(keys: readonly InvalidatedKey[]): void {
    this.#transaction(() => {
      const drop = this.#database.prepare('DELETE FROM invalidated WHERE hash = ? AND at = ?');
      const raise = this.#database.prepare('UPDATE state SET floor = max(floor, ?)');
      for (const { hash, at } of keys) {
        raise.run(at);
        drop.run(hash, at);
      }
    });
    this.#readLimits();
  }

  close(): void {
    this.#database.close();
  }

  /** Reads the floor, and drops forgotten keys from the copy. */
  #readLimits(): void {
    const row = this.#limits.get();
    this.#floor = Number(row?.['floor'] ?? 0);
    this.#mirror.forgetBefore(Number(row?.['oldest'] ?? Number.POSITIVE_INFINITY));
  }

  #transaction(work: () => void): void {
    inTransaction(this.#database, work);
  }
}

function openDatabase(file: string): DatabaseSync {
  for (let attempt = 1; ; attempt++) {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(file, { timeout: BUSY_MS });
      prepareDatabase(database);
      closeToOthers(file);
      return database;
    } catch (error) {
      database?.close();
      if (attempt === OPEN_ATTEMPTS) throw error;
      // A new file has a new generation, so objects whose invalidations are lost are no longer found.
      if (isDamage(error)) for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    }
  }
}

/** Creates the tables. Writes are not synced: the file may be damaged after a power cut, and is then recreated. */
function prepareDatabase(database: DatabaseSync): void {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  inTransaction(database, () => {
    database.exec(`
      CREATE TABLE IF NOT EXISTS state (
        one INTEGER PRIMARY KEY CHECK (one = 1), generation TEXT NOT NULL, sequence INTEGER NOT NULL, floor INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS invalidated (
        hash TEXT PRIMARY KEY, at INTEGER NOT NULL, sequence INTEGER NOT NULL) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS invalidated_sequence ON invalidated (sequence);
    `);
    database
      .prepare('INSERT OR IGNORE INTO state (one, generation, sequence, floor) VALUES (1, ?, 0, 0)')
      .run(randomBytes(8).toString('hex'));
  });
}
