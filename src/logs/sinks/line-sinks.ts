/**
 * The sinks of this machine: keeps the spool files that they still need, within a bound, and sends each what it has not
 * yet. Files are kept by further links to them, so that neither shipping nor the spool's own bound takes them away.
 * docs/decisions/0743
 */
import { link, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#lib/clock.ts';
import { hasCode, unlessMissing } from '#lib/file-error.ts';
import type { Logger } from '#lib/logger.ts';
import { type Rounds, startRounds } from '#lib/rounds.ts';
import type { LineSink, SinkTrouble } from '#model/line-sink.ts';
import { newestFirst, stemOf } from '../spool-names.ts';
import type { SinkPlaces } from './places.ts';
import type { PostRecords } from './post.ts';
import { type SinkCounts, type SinkFile, SinkSender } from './sender.ts';

export interface LineSinksOptions {
  /** Directory of the spools, and the one of the links, on the same file system. */
  readonly spools: string;
  readonly directory: string;
  /** Opens the places when they are first needed; retried if it throws. */
  readonly openPlaces: () => SinkPlaces;
  /** Returns the sinks by name; `undefined` while they are not known. */
  readonly listSinks: () => ReadonlyMap<string, LineSink> | undefined;
  readonly edge: string;
  /** Bytes of files that wait for sinks; the oldest that have ended are given up beyond it. */
  readonly keepBytes: number;
  readonly post: PostRecords;
  /** Monotonic clock. */
  readonly steadyClock: Clock;
  readonly log: Logger;
}

export interface SinkState extends SinkCounts {
  readonly name: string;
  /** Bytes of spool files that are not sent yet. */
  readonly behindBytes: number;
}

const LOOK_MS = 1_000;

interface Running {
  readonly sender: SinkSender;
  /** The sink as JSON. */
  readonly text: string;
}

/** A file that is kept. */
interface KeptFile extends SinkFile {
  readonly bytes: number;
}

export class LineSinks implements AsyncDisposable {
  readonly #options: LineSinksOptions;
  readonly #running = new Map<string, Running>();
  readonly #rounds: Rounds;
  /** Resolves also if the look fails: shipping, which makes room, is not to wait for that. */
  readonly #firstLook = Promise.withResolvers<void>();
  #places: SinkPlaces | undefined;
  /** The oldest first. */
  #files: readonly KeptFile[] = [];

  constructor(options: LineSinksOptions) {
    this.#options = options;
    this.#rounds = startRounds({
      everyMs: LOOK_MS,
      work: () => this.#look().finally(this.#firstLook.resolve),
      onFailure: (error, isRepeated) => {
        if (!isRepeated) options.log.error({ err: error }, 'cannot look for log lines to send to sinks; retrying');
      },
    });
  }

  /** Keeps an ended spool file for the sinks that need it, before it is deleted. */
  async keep(stem: string): Promise<void> {
    await this.#firstLook.promise; // the sinks of an earlier process are not known before
    if (this.#running.size > 0 && this.#isNeeded(stem)) await this.#link(stem);
  }

  get troubles(): readonly SinkTrouble[] {
    return [...this.#running.values()].flatMap(({ sender }) => sender.trouble ?? []);
  }

  get states(): readonly SinkState[] {
    return [...this.#running].map(([name, { sender }]) => {
      const behindBytes = this.#files.reduce((sum, file) => sum + this.#unsentBytes(name, file), 0);
      return { name, ...sender.counts, behindBytes };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rounds[Symbol.asyncDispose]();
    await this.#stop([...this.#running.keys()]);
    this.#places?.[Symbol.dispose]();
    this.#places = undefined;
  }

  async #look(): Promise<void> {
    const sinks = this.#options.listSinks();
    const linked = (await unlessMissing(readdir(this.#options.directory))) ?? [];
    if (sinks === undefined || (sinks.size === 0 && this.#running.size === 0 && linked.length === 0)) return;
    await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
    this.#places ??= this.#options.openPlaces();
    const spooled = await readdir(this.#options.spools);
    await this.#useSinks(this.#places, sinks, spooled);
    for (const stem of stemsIn(spooled)) if (this.#isNeeded(stem)) await this.#link(stem);
    await this.#tidy(this.#places, spooled);
  }

  /** Starts senders of new and changed sinks, and stops others. A new sink begins with what is written from now on. */
  async #useSinks(places: SinkPlaces, sinks: ReadonlyMap<string, LineSink>, spooled: readonly string[]): Promise<void> {
    const texts = new Map([...sinks].map(([name, sink]) => [name, JSON.stringify(sink)]));
    await this.#stop([...this.#running].flatMap(([name, { text }]) => (texts.get(name) === text ? [] : [name])));
    places.keepSinks([...sinks.keys()]);
    for (const [name, sink] of sinks) {
      if (this.#running.has(name)) continue;
      const sizes = await Promise.all(
        stemsIn(spooled).map((stem) => sizeOf(join(this.#options.spools, `${stem}.log`))),
      );
      places.begin(
        name,
        stemsIn(spooled).map((stem, n) => [stem, sizes[n] ?? 0] as const),
      );
      const { edge, post, steadyClock, log } = this.#options;
      const files = () => this.#files;
      const sender = new SinkSender({ name, sink, edge, places, post, files, steadyClock, log });
      this.#running.set(name, { sender, text: texts.get(name) ?? '' });
    }
  }

  async #stop(names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.#running.get(name)?.sender[Symbol.asyncDispose]()));
    for (const name of names) this.#running.delete(name);
  }

  /** Deletes links that no sink needs, gives up the oldest files beyond the bound, and forgets files that are gone. */
  async #tidy(places: SinkPlaces, spooled: readonly string[]): Promise<void> {
    const { directory, keepBytes, log } = this.#options;
    const files: KeptFile[] = [];
    let kept = 0;
    for (const stem of newestFirst(stemsIn(await readdir(directory)))) {
      const path = join(directory, `${stem}.log`);
      const file = { stem, path, isEnded: !spooled.includes(`${stem}.stats`), bytes: await sizeOf(path) };
      if (this.#isNeeded(stem)) kept += file.bytes;
      if (file.isEnded && kept > keepBytes && this.#isNeeded(stem)) {
        for (const { sender } of this.#running.values()) await sender.drop(file);
        log.error({ file: stem }, 'too many log lines wait for sinks; the oldest are dropped');
      }
      if (this.#isNeeded(stem)) files.unshift(file);
      else await rm(path, { force: true });
    }
    this.#files = files;
    places.keepFiles([...stemsIn(spooled), ...files.map(({ stem }) => stem)]);
  }

  #isNeeded(stem: string): boolean {
    return [...this.#running.keys()].some((name) => this.#places?.placeOf(name, stem).isDone === false);
  }

  #unsentBytes(name: string, { stem, bytes }: KeptFile): number {
    const place = this.#places?.placeOf(name, stem);
    return place === undefined || place.isDone ? 0 : Math.max(0, bytes - place.sent);
  }

  async #link(stem: string): Promise<void> {
    const { spools, directory } = this.#options;
    try {
      await link(join(spools, `${stem}.log`), join(directory, `${stem}.log`));
    } catch (error) {
      // Linked before, or deleted since it was listed.
      if (!hasCode(error, 'EEXIST') && !hasCode(error, 'ENOENT')) throw error;
    }
  }
}

function stemsIn(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => stemOf(file, '.log') ?? []);
}

/** Returns 0 if there is no such file. */
async function sizeOf(path: string): Promise<number> {
  return (await unlessMissing(stat(path)))?.size ?? 0;
}
