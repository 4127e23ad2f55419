/**
 * The files of one spool: a log of lines and its journal of sums, which begin and end together. Calls must not overlap.
 */
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { MinuteCounters } from './counters.ts';
import { formatRecord } from './journal.ts';
import { newestFirst, type SpoolEnding, spoolOf, spoolStem, stemOf } from './spool-names.ts';
import type { TakenCount } from './taken-count.ts';
import { Tally } from './tally.ts';

export interface SpoolFilesOptions {
  /** Created if missing, also later. */
  readonly directory: string;
  /** Name of lower-case letters, digits and dashes; one writer each. */
  readonly name: string;
  /** Number in the name of the first file; 0 by default. */
  readonly firstNumber?: number | undefined;
  /** A log file is finished before its lines, as they are shipped, grow beyond this. */
  readonly rotateBytes: number;
  /** Finished log files beyond it are removed, the oldest first. */
  readonly keepBytes: number;
  /** Spools whose files share `keepBytes`; absent: this one alone. */
  readonly sharing?: readonly string[] | undefined;
  readonly onRemoved: (bytes: number) => void;
  /** Notified of the file that lines are written to. */
  readonly taken?: Pick<TakenCount, 'begin' | 'end'> | undefined;
  /**
   * Called once, before the first file is created, with the files of killed writers, whose unwritten lines are lost.
   */
  readonly onEarlier: (unclosed: readonly string[]) => Promise<void>;
  /** Notified of errors, after which work goes on. */
  readonly onTrouble: (why: string, error: unknown) => void;
}

/** Lines of one slot (the time that one file covers) and their sums. */
export interface LineBatch {
  readonly slot: number;
  /** Lines as bytes: waiting strings would cost the garbage collector time. */
  readonly buffer: Buffer;
  readonly tally: Tally;
  bytes: number;
  lines: number;
  /** Approximate bytes that the lines would have without short lines. */
  wholeBytes: number;
}

interface CurrentFiles {
  readonly stem: string;
  readonly log: FileHandle;
  readonly journal: FileHandle;
  readonly inodes: { readonly log: number; readonly journal: number };
  /** Time that the files cover. */
  readonly slot: number;
  bytes: number;
  wholeBytes: number;
  lines: number;
  /**
   * Sums of lines that are in the log but not in its journal; readers of finished files count such lines themselves.
   */
  readonly unrecorded: Tally;
  /** Whether the files were seen to exist since the last record. */
  isSeen: boolean;
}

export class SpoolFiles {
  readonly #options: SpoolFilesOptions;
  #files: CurrentFiles | undefined;
  #sequence: number;
  #isTidy = false;

  constructor(options: SpoolFilesOptions) {
    this.#options = options;
    this.#sequence = options.firstNumber ?? 0;
  }

  /**
   * Appends the batch's lines to the log of their slot: all of them, or none if it rejects. `now` names new files.
   */
  async append({ slot, buffer, bytes, wholeBytes, lines, tally }: LineBatch, now: number): Promise<void> {
    const files = await this.#filesFor(slot, wholeBytes, now);
    try {
      await files.log.appendFile(buffer.subarray(0, bytes));
    } catch (error) {
      // Undoes the incomplete write if possible. A new file follows, so an incomplete line harms no other.
      await files.log.truncate(files.bytes).catch(() => undefined);
      await this.#finish();
      throw error;
    }
    files.bytes += bytes;
    files.wholeBytes += wholeBytes;
    files.lines += lines;
    files.unrecorded.merge(tally);
  }

  /**
   * Records the sums of appended lines, and `lineless`, the sums without a line in a file. If that fails, they stay
   * there.
   */
  async record(lineless: Tally, slot: number, now: number): Promise<void> {
    const counts = lineless.take();
    try {
      const files = counts.length > 0 ? await this.#filesFor(slot, 0, now) : this.#files;
      if (files === undefined || (await this.#record(files, counts))) return;
    } catch (error) {
      this.#options.onTrouble('cannot write to the journal', error);
    }
    lineless.add(counts);
  }

  /** Ends the current files if they are of another slot. */
  async endUnless(slot: number): Promise<void> {
    if (this.#files !== undefined && this.#files.slot !== slot) await this.#finish();
  }

  close(): Promise<void> {
    return this.#finish();
  }

  /** Returns false if the record could not be written. */
  async #record(files: CurrentFiles, lineless: readonly MinuteCounters[]): Promise<boolean> {
    files.isSeen = false;
    const ofLines = files.unrecorded.take();
    if (ofLines.length + lineless.length === 0) return true;
    // Begins with a line end, too: a full disk may have truncated the previous record.
    const text = `\n${formatRecord({ upTo: files.bytes, counts: [...ofLines, ...lineless] })}\n`;
    try {
      await files.journal.appendFile(text);
      return true;
    } catch (error) {
      this.#options.onTrouble('cannot write to the journal', error);
      files.unrecorded.add(ofLines);
      return false;
    }
  }

  /** Returns the current files if these lines belong into them, else new ones. */
  async #filesFor(slot: number, wholeBytes: number, now: number): Promise<CurrentFiles> {
    const { rotateBytes } = this.#options;
    const files = this.#files;
    if (files !== undefined) {
      const fits = files.slot === slot && (files.bytes === 0 || files.wholeBytes + wholeBytes <= rotateBytes);
      if (fits && (files.isSeen || (await this.#isInPlace(files)))) return files;
      await this.#finish();
    }
    this.#files = await this.#open(slot, now);
    return this.#files;
  }

  async #open(slot: number, now: number): Promise<CurrentFiles> {
    const { directory, name } = this.#options;
    await this.endEarlier();
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await this.#removeOldest();
    const { stem, journal } = await this.#openNew(spoolStem(name, now, this.#sequence++), now);
    try {
      const log = await open(this.#path(stem, '.log'), 'ax', 0o600);
      const inodes = { log: (await log.stat()).ino, journal: (await journal.stat()).ino };
      this.#options.taken?.begin(stem);
      return {
        stem,
        log,
        journal,
        inodes,
        slot,
        bytes: 0,
        wholeBytes: 0,
        lines: 0,
        unrecorded: new Tally(),
        isSeen: false,
      };
    } catch (error) {
      await journal.close();
      await rm(this.#path(stem, '.stats'), { force: true });
      throw error;
    }
  }

  /** Creates the journal first: a log without one was not created here. */
  async #openNew(stem: string, now: number): Promise<{ stem: string; journal: FileHandle }> {
    const isTaken =
      (await this.#exists(stem, '.log')) || (await this.#exists(stem, '.stats')) || (await this.#exists(stem, '.done'));
    if (isTaken) return this.#openNew(spoolStem(this.#options.name, now, this.#sequence++), now);
    return { stem, journal: await open(this.#path(stem, '.stats'), 'ax', 0o600) };
  }

  /** Whether the files still exist: a deleted file still accepts bytes, which would be lost. */
  async #isInPlace(files: CurrentFiles): Promise<boolean> {
    const { stem, inodes } = files;
    const log = await statOrUndefined(this.#path(stem, '.log'));
    const journal = await statOrUndefined(this.#path(stem, '.stats'));
    files.isSeen = log?.ino === inodes.log && journal?.ino === inodes.journal;
    return files.isSeen;
  }

  async #finish(): Promise<void> {
    const files = this.#files;
    if (files === undefined) return;
    this.#files = undefined;
    const { onTrouble } = this.#options;
    await this.#record(files, []);
    const done = await Promise.allSettled([files.log.sync(), files.log.close(), files.journal.close()]);
    for (const one of done) if (one.status === 'rejected') onTrouble('cannot close the file', one.reason);
    await this.#markDone(files.stem);
    this.#options.taken?.end(files.lines);
  }

  /** Ends the files of an earlier process, which may end with an incomplete line. Works once. */
  async endEarlier(): Promise<void> {
    const { directory, name } = this.#options;
    if (this.#isTidy) return;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const unclosed = (await readdir(directory)).flatMap((file) => stemOf(file, '.stats', name) ?? []);
    await this.#options.onEarlier(unclosed); // before they can be shipped
    for (const stem of unclosed) await this.#markDone(stem);
    this.#isTidy = true;
  }

  /** Marks the files as ended, even if the journal was removed: the rest of the log can still be counted. */
  async #markDone(stem: string): Promise<void> {
    const done = this.#path(stem, '.done');
    try {
      const isThere = await this.#exists(stem, '.stats');
      if (isThere) await rename(this.#path(stem, '.stats'), done);
      else if (await this.#exists(stem, '.log')) await (await open(done, 'ax', 0o600)).close();
    } catch (error) {
      this.#options.onTrouble('cannot close the file', error);
    }
  }

  async #removeOldest(): Promise<void> {
    const { directory, name, sharing = [name], keepBytes, onRemoved, onTrouble } = this.#options;
    try {
      const stems = (await readdir(directory))
        .flatMap((file) => stemOf(file, '.done') ?? [])
        .filter((stem) => sharing.includes(spoolOf(stem)));
      let kept = 0;
      for (const stem of newestFirst(stems)) {
        const path = this.#path(stem, '.log');
        const { size = 0 } = (await statOrUndefined(path)) ?? {};
        kept += size;
        if (kept <= keepBytes || size === 0) continue;
        await rm(path, { force: true }); // the journal's sums stay
        onRemoved(size);
      }
    } catch (error) {
      onTrouble('cannot remove old files', error);
    }
  }

  #path(stem: string, ending: SpoolEnding): string {
    return join(this.#options.directory, stem + ending);
  }

  async #exists(stem: string, ending: SpoolEnding): Promise<boolean> {
    return (await statOrUndefined(this.#path(stem, ending))) !== undefined;
  }
}

async function statOrUndefined(path: string) {
  try {
    return await stat(path);
  } catch {
    return undefined; // missing or inaccessible: opening it will show which
  }
}
