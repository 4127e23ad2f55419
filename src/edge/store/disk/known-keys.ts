/**
 * Which keys a cache directory may have, known without asking the disk: from its folders when it is opened, later from the journal
 * of all workers. A key that is wrongly taken for absent costs a fetch. docs/decisions/0551
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '#lib/file-error.ts';
import { type KeyHash, splitHash } from '../key-hash.ts';
import { JournalFollower } from './journal.ts';
import { KeyFilter } from './key-filter.ts';
import { parseFileName } from './paths.ts';

/** What a key takes on disk at least. */
const MIN_KEY_BYTES = 4096;
/** 32 MiB of each worker: room for 15 million keys. A directory with more of them is asked for each. */
const MAX_KEYS = 15_000_000;
/** How soon other workers' keys are seen after their journal has them. */
const FOLLOW_MS = 1;

export interface KnownKeysOptions {
  readonly directory: string;
  /** Folder of the objects. */
  readonly objects: string;
  /** Room of the directory. */
  readonly maxBytes: number;
  /** This worker's number in the journal. Its records there are skipped: it calls `add` and `delete` itself. */
  readonly writer: number;
  readonly onProblem: (error: unknown) => void;
}

export class KnownKeys {
  readonly #options: KnownKeysOptions;
  readonly #filter: KeyFilter;
  readonly #journal: JournalFollower;
  readonly #filling: Promise<void>;
  #isFilled = false;
  #isClosed = false;
  #followedAt = Number.NEGATIVE_INFINITY;

  /** Throws when the journal cannot be read. */
  constructor(options: KnownKeysOptions) {
    this.#options = options;
    this.#filter = new KeyFilter(Math.min(MAX_KEYS, Math.ceil(options.maxBytes / MIN_KEY_BYTES)));
    // Before the folders are read: a key is in one of the two.
    this.#journal = new JournalFollower(options.directory);
    this.#filling = this.#fill();
  }

  /** Whether the key may be on disk; always true while the folders are being read. Throws when the disk fails. */
  mayHave(hash: KeyHash, now: number): boolean {
    if (!this.#isFilled || this.#filter.isFull) return true;
    const { high, low } = splitHash(hash);
    if (this.#filter.has(high, low)) return true;
    if (now - this.#followedAt < FOLLOW_MS) return false;
    this.follow(now);
    return this.#filter.has(high, low);
  }

  add(hash: KeyHash): void {
    const { high, low } = splitHash(hash);
    this.#filter.add(high, low);
  }

  delete(hash: KeyHash): void {
    const { high, low } = splitHash(hash);
    this.#filter.delete(high, low);
  }

  /** Takes in what the journal has since the last call. */
  follow(now: number): void {
    this.#followedAt = now;
    for (const { writer, kind, high, low } of this.#journal.read()) {
      if (writer === this.#options.writer) continue;
      if (kind === 'stored') this.#filter.add(high, low);
      if (kind === 'removed' || kind === 'evicted') this.#filter.delete(high, low);
    }
  }

  /** Resolves when the folders have been read, or cannot be. */
  filled(): Promise<void> {
    return this.#filling;
  }

  close(): void {
    this.#isClosed = true;
    this.#journal.close();
  }

  /** Never rejects. */
  async #fill(): Promise<void> {
    const { objects, onProblem } = this.#options;
    try {
      for (const folder of await readdir(objects)) {
        const names = (await unlessMissing(readdir(join(objects, folder)))) ?? [];
        if (this.#isClosed) return;
        for (const name of names) {
          const file = parseFileName(name);
          if (file !== undefined && file.bodyId === undefined) this.add(file.hash);
        }
      }
      this.#isFilled = true;
    } catch (error) {
      if (!this.#isClosed) onProblem(error);
    }
  }
}
