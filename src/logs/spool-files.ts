/**
 * The files of one spool. `<name>.log` grows, with its journal `<name>.stats` beside it; both end together, as
 * `<name>-<time>-<number>.log` and `.stats`. Not for concurrent calls.
 */
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { MinuteCounters } from './counters.ts';
import { formatRecord } from './journal.ts';
import { CURRENT_JOURNAL, CURRENT_LOG, finishedName, isFinishedLog, journalOf } from './spool-names.ts';
import { Tally } from './tally.ts';

export interface SpoolFilesOptions {
  /** Made when missing, also later. */
  readonly directory: string;
  /** Of lower-case letters, digits and dashes; one writer each. */
  readonly name: string;
  /** A log file is finished before it grows beyond this. */
  readonly rotateBytes: number;
  /** Finished log files beyond it are removed, the oldest first. */
  readonly keepBytes: number;
  /** Told of files removed so, and of trouble that ends nothing. */
  readonly onRemoved: (bytes: number) => void;
  readonly onTrouble: (why: string, error: unknown) => void;
}

interface CurrentFiles {
  readonly log: FileHandle;
  readonly journal: FileHandle;
  readonly inode: number;
  /** Of the time that this file is for. */
  readonly slot: number;
  bytes: number;
  /** Of lines that are in the log file and not in its journal; who reads a finished file counts such lines himself. */
  readonly unrecorded: Tally;
}

export class SpoolFiles {
  readonly #options: SpoolFilesOptions;
  readonly #log: string;
  readonly #journal: string;
  #files: CurrentFiles | undefined;
  #sequence = 0;

  constructor(options: SpoolFilesOptions) {
    this.#options = options;
    this.#log = join(options.directory, options.name + CURRENT_LOG);
    this.#journal = join(options.directory, options.name + CURRENT_JOURNAL);
  }

  get path(): string {
    return this.#log;
  }

  /**
   * Whole lines, into the file of their slot, and then what they sum up to: all of the lines or, when it rejects, none.
   * `now` names finished files.
   */
  async append(text: string, counts: readonly MinuteCounters[], slot: number, now: number): Promise<void> {
    const bytes = Buffer.byteLength(text);
    const files = await this.#filesFor(slot, bytes, now);
    try {
      await files.log.appendFile(text);
    } catch (error) {
      // Takes back the half-written batch, if the disk lets us. The next file is a new one, so half a line harms no other.
      await files.log.truncate(files.bytes).catch(() => undefined);
      await this.#close();
      throw error;
    }
    files.bytes += bytes;
    files.unrecorded.add(counts);
    await this.#record(files, []);
  }

  /** Sums that belong to no line of a file; false: they are not written down. */
  async record(counts: readonly MinuteCounters[], slot: number, now: number): Promise<boolean> {
    try {
      return await this.#record(await this.#filesFor(slot, 0, now), counts);
    } catch (error) {
      this.#options.onTrouble('the journal cannot be written', error);
      return false;
    }
  }

  async #record(files: CurrentFiles, lineless: readonly MinuteCounters[]): Promise<boolean> {
    const ofLines = files.unrecorded.take();
    // It begins with a line's end too: the record before it may have been cut by a full disk.
    const text = `\n${formatRecord({ upTo: files.bytes, counts: [...ofLines, ...lineless] })}\n`;
    try {
      await files.journal.appendFile(text);
      return true;
    } catch (error) {
      this.#options.onTrouble('the journal cannot be written', error);
      files.unrecorded.add(ofLines);
      return false;
    }
  }

  /** Ends the present files when they are of another slot. */
  async endUnless(slot: number, now: number): Promise<void> {
    if (this.#files !== undefined && this.#files.slot !== slot) await this.#finish(this.#files, now);
  }

  async close(): Promise<void> {
    await this.#files?.log.sync();
    await this.#close();
  }

  /** The present files when these lines belong into them, else new ones. */
  async #filesFor(slot: number, bytes: number, now: number): Promise<CurrentFiles> {
    let files = this.#files;
    if (files !== undefined && !(await this.#isInPlace(files))) {
      await this.#close();
      files = undefined;
    }
    if (files !== undefined && (files.slot !== slot || files.bytes + bytes > this.#options.rotateBytes)) {
      await this.#finish(files, now);
      files = undefined;
    }
    this.#files = files ?? (await this.#open(slot, now));
    return this.#files;
  }

  async #open(slot: number, now: number): Promise<CurrentFiles> {
    await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
    // What an earlier process left may end in half a line: its own file, then.
    await this.#setAside(now);
    const log = await open(this.#log, 'a', 0o600);
    try {
      const journal = await open(this.#journal, 'a', 0o600);
      const { ino, size } = await log.stat();
      return { log, journal, inode: ino, slot, bytes: size, unrecorded: new Tally() };
    } catch (error) {
      await log.close();
      throw error;
    }
  }

  /** A file that was deleted under us still takes bytes, which nobody will ever see. */
  async #isInPlace(files: CurrentFiles): Promise<boolean> {
    return (await statOrUndefined(this.#log))?.ino === files.inode;
  }

  async #finish(files: CurrentFiles, now: number): Promise<void> {
    try {
      await files.log.sync();
    } finally {
      await this.#close();
    }
    await this.#setAside(now);
  }

  /** Renames what there is to a name that sorts after all earlier ones: the journal first, for readers go by the log. */
  async #setAside(now: number): Promise<void> {
    const { directory, name, onTrouble } = this.#options;
    const log = await statOrUndefined(this.#log);
    const journal = await statOrUndefined(this.#journal);
    if ((log?.size ?? 0) === 0 && (journal?.size ?? 0) === 0) return;
    let target: string;
    do target = join(directory, finishedName(name, now, this.#sequence++));
    while ((await statOrUndefined(target)) !== undefined);
    if (journal !== undefined) await rename(this.#journal, journalOf(target));
    if (log !== undefined) await rename(this.#log, target);
    try {
      await this.#removeOldest();
    } catch (error) {
      onTrouble('old files cannot be removed', error); // writing goes on
    }
  }

  async #removeOldest(): Promise<void> {
    const { directory, name, keepBytes, onRemoved } = this.#options;
    const newestFirst = (await readdir(directory))
      .filter((file) => isFinishedLog(file, name))
      .sort()
      .reverse();
    let kept = 0;
    for (const file of newestFirst) {
      const { size = 0 } = (await statOrUndefined(join(directory, file))) ?? {};
      kept += size;
      if (kept <= keepBytes) continue;
      await rm(join(directory, file), { force: true });
      onRemoved(size);
    }
  }

  async #close(): Promise<void> {
    const files = this.#files;
    this.#files = undefined;
    const closed = await Promise.allSettled([files?.log.close(), files?.journal.close()]);
    for (const one of closed) {
      if (one.status === 'rejected') this.#options.onTrouble('the file cannot be closed', one.reason);
    }
  }
}

async function statOrUndefined(path: string) {
  try {
    return await stat(path);
  } catch {
    return undefined; // missing or out of reach: opening it will say which
  }
}
