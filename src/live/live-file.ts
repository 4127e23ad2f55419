/**
 * Stores the events that control has not acknowledged and the broadcasts on air, so that these are ended at the next
 * start after a kill. It is an SQLite file; while that cannot be written, as on a full disk, memory takes its place.
 * docs/decisions/0492
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSound } from '#lib/sqlite-file.ts';
import {
  type Contents,
  EventStore,
  type LastMedia,
  type LiveEvent,
  layEventStore,
  type NewEvent,
} from './event-store.ts';

export interface LiveFileOptions {
  /** Called with the new name of a damaged or foreign file that was moved aside. */
  onMoved(to: string): void;
  /** Called when memory takes the place of the file: a kill now loses every event that control has not acknowledged. */
  onLost(error: unknown): void;
  /** Called when everything is in the file again. */
  onRestored(): void;
}

/** No method throws. */
export class LiveFile implements Disposable {
  readonly #path: string;
  readonly #options: LiveFileOptions;
  #store: EventStore;
  #isOnDisk = true;
  /** Whether the file's own events were read, so that memory has them. */
  #isRead = false;

  /** Creates the file if it is missing. Ends the broadcasts that it has on air with the reason `crashed`. */
  constructor(path: string, options: LiveFileOptions) {
    this.#path = path;
    this.#options = options;
    try {
      this.#store = this.#openFile();
      this.#isRead = true;
    } catch (error) {
      this.#store = openMemory();
      this.#isOnDisk = false;
      options.onLost(error);
    }
  }

  /** Id of the series of numbers: a new one begins with a new file, and when memory takes the place of the file. */
  get epoch(): string {
    return this.#store.epoch;
  }

  /** Keeps the event until it is acknowledged, and records whether the broadcast is on air. */
  append(event: NewEvent): void {
    this.#write((store) => store.append(event));
  }

  /**
   * Takes over what another process of this machine has left in its file: broadcasts that it had on air have ended with
   * it. Deletes that file. Throws if it cannot be read.
   */
  adopt(path: string): void {
    if (!existsSync(path)) return;
    {
      using left = openStore(path, this.#options.onMoved);
      left.endAll();
      const events = left.listEvents(Number.MAX_SAFE_INTEGER).map(({ n: _, ...event }) => event);
      this.#write((store) => store.append(...events));
    }
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  }

  /** Saves when the last media of each broadcast arrived. Also returns to the file if that can be written again. */
  saveLastMedia(broadcasts: readonly LastMedia[]): void {
    if (!this.#isOnDisk) this.#returnToDisk();
    this.#write((store) => store.saveLastMedia(broadcasts));
  }

  /** Returns the oldest events that are not acknowledged. */
  listEvents(limit: number): readonly LiveEvent[] {
    return this.#write((store) => store.listEvents(limit));
  }

  countEvents(): number {
    return this.#write((store) => store.countEvents());
  }

  /** Deletes the events up to this number, unless another series of numbers has begun since they were listed. */
  acknowledge(epoch: string, n: number): void {
    this.#write((store) => {
      if (store.epoch === epoch) store.acknowledge(n);
    });
  }

  [Symbol.dispose](): void {
    this.#store[Symbol.dispose]();
  }

  #write<T>(work: (store: EventStore) => T): T {
    if (!this.#isOnDisk) return work(this.#store);
    try {
      return work(this.#store);
    } catch (error) {
      this.#leaveDisk(error);
      return work(this.#store);
    }
  }

  /** Switches to memory, with a new epoch: the next start uses the file's numbers again. */
  #leaveDisk(error: unknown): void {
    const memory = openMemory();
    try {
      memory.replace({ ...this.#store.contents(), epoch: randomUUID() });
    } catch {
      // The file cannot be read either. It is read when the disk is back.
      this.#isRead = false;
    }
    this.#store[Symbol.dispose]();
    this.#store = memory;
    this.#isOnDisk = false;
    this.#options.onLost(error);
  }

  #returnToDisk(): void {
    let disk: EventStore;
    try {
      disk = this.#isRead ? this.#openStore() : this.#openFile();
    } catch {
      return; // tried again with the next save
    }
    try {
      const contents = this.#store.contents();
      disk.replace(this.#isRead ? contents : withOlder(contents, disk.listEvents(Number.MAX_SAFE_INTEGER)));
    } catch {
      disk[Symbol.dispose]();
      return; // tried again with the next save
    }
    this.#store[Symbol.dispose]();
    this.#store = disk;
    this.#isOnDisk = true;
    this.#isRead = true;
    this.#options.onRestored();
  }

  #openFile(): EventStore {
    const store = this.#openStore();
    try {
      store.endAll();
    } catch (error) {
      store[Symbol.dispose]();
      throw error;
    }
    return store;
  }

  #openStore(): EventStore {
    return openStore(this.#path, this.#options.onMoved);
  }
}

function openStore(path: string, onMoved: (to: string) => void): EventStore {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return new EventStore(openSound(path, layEventStore, onMoved));
}

function openMemory(): EventStore {
  const database = new DatabaseSync(':memory:');
  layEventStore(database);
  return new EventStore(database);
}

/** Appends the file's older events behind those of memory, with new numbers. */
function withOlder(contents: Contents, older: readonly LiveEvent[]): Contents {
  const renumbered = older.map((event, index) => ({ ...event, n: contents.lastN + 1 + index }));
  return { ...contents, lastN: contents.lastN + older.length, events: [...contents.events, ...renumbered] };
}
