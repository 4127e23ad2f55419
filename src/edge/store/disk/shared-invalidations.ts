/**
 * When keys were invalidated, for all workers of a cache directory and over restarts: an SQLite file, with a copy of it in the
 * memory of each worker. It only ever moves an instant forward, in one transaction, so nothing undoes an invalidation.
 * docs/decisions/0072, docs/decisions/0550
 */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { inTransaction, isDamage } from '#lib/sqlite-file.ts';
import type { KeyHash } from '../key-hash.ts';
import { InvalidationMirror } from './invalidation-mirror.ts';

/** A writer waits for another this long; a write takes some tens of microseconds. */
const BUSY_MS = 500;
const OPEN_ATTEMPTS = 5;
/** Some 10 MB of each worker. */
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
   * Made anew when it is missing or broken; throws when the directory cannot be used. `maxMirrored`: keys kept in memory; the
   * others are looked up in the file.
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

  /** Names the objects that belong to this file. */
  get generation(): string {
    return String(this.#database.prepare('SELECT generation FROM state').get()?.['generation']);
  }

  /** The file has not been removed or replaced meanwhile. */
  get isCurrent(): boolean {
    return statSync(this.#file, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  /** The latest instant, as of the last `refresh` and this worker's own records since. */
  at(hash: KeyHash): number | undefined {
    const at = this.#mirror.at(hash);
    if (at !== undefined || this.#mirror.isComplete) return at;
    const row = this.#find.get(hash);
    return row === undefined ? undefined : Number(row['at']);
  }

  /** The latest keys, as of the last `refresh` and this worker's own records since. */
  known(): Iterable<InvalidatedKey> {
    return this.#mirror.all();
  }

  /** The later instant stands. */
  record(hash: KeyHash, at: number): void {
    this.recordAll([{ hash, at }]);
  }

  /** Records all of them or none. The later instant of a key stands. */
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
    // The version of the data does not change for what this connection writes.
    this.#mirror.set(hash, Number(row?.['at'] ?? at), Number(row?.['sequence'] ?? 0));
  }

  /**
   * Reads what has changed since the last call, and returns what was recorded: by other workers, at times this worker's own too.
   * Costs some microseconds when there is nothing.
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

  /** A response requested at or before it is not stored any more: what would forbid it may be forgotten. As of the last `refresh`. */
  get floor(): number {
    return this.#floor;
  }

  /** Keys to forget: older than `before`, and the oldest of more than `maxKeys`; at most `limit` at once. */
  oldest(before: number, maxKeys: number, limit: number): readonly InvalidatedKey[] {
    const count = Number(this.#database.prepare('SELECT count(*) AS n FROM invalidated').get()?.['n']);
    const isOver = count > maxKeys ? 1 : 0;
    const rows = this.#database
      .prepare('SELECT hash, at FROM invalidated WHERE at < ? OR ? = 1 ORDER BY sequence LIMIT ?')
      .all(before, isOver, limit);
    return rows.map((row) => ({ hash: String(row['hash']), at: Number(row['at']) }));
  }

  /** Only when nothing that it made absent is stored any more. */
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

  /** What was forgotten leaves the copy too. */
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
      return database;
    } catch (error) {
      database?.close();
      if (attempt === OPEN_ATTEMPTS) throw error;
      // A new file has a new generation, so objects whose invalidations are lost are not found any more.
      if (isDamage(error)) for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    }
  }
}

/** Nothing is synced: after a power cut the file may be broken, and then it is made anew. */
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
