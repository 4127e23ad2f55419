/**
 * Sends the lines of this machine's spools to one sink: each file in batches, in order, several files at a time. While
 * the receiver fails, nothing is read. At least once: what was accepted and not noted is sent again under the same key.
 */
import type { Clock } from '#lib/clock.ts';
import { hasCode } from '#lib/file-error.ts';
import { forEachAtOnce } from '#lib/for-each-at-once.ts';
import type { Logger } from '#lib/logger.ts';
import { type Rounds, startRounds } from '#lib/rounds.ts';
import type { LineSink, SinkTrouble } from '#model/line-sink.ts';
import { composeSinkPost } from './compose.ts';
import { type SinkBatch, SinkCursor } from './cursor.ts';
import type { SinkPlaces } from './places.ts';
import { isPassingStatus, type PostRecords, type SinkAnswer, sinkFateOf } from './post.ts';
import { type MakeRecord, recordMaker } from './record.ts';

export interface SinkFile {
  readonly stem: string;
  readonly path: string;
  /** Whether nothing more is written to it. */
  readonly isEnded: boolean;
}

export interface SinkSenderOptions {
  readonly name: string;
  readonly sink: LineSink;
  readonly edge: string;
  readonly places: SinkPlaces;
  readonly post: PostRecords;
  /** The spool files, the oldest first. */
  readonly files: () => readonly SinkFile[];
  /** Monotonic clock. */
  readonly steadyClock: Clock;
  readonly log: Logger;
}

/** Counts since the start. */
export interface SinkCounts {
  sent: number;
  posts: number;
  /** Posts that failed or were refused. */
  failures: number;
  /** Records that were dropped, by reason. */
  readonly dropped: { refused: number; spool: number };
}

const POLL_MS = 500;
/** Files that are sent from at a time, and so posts in flight. */
const MAX_AT_ONCE = 4;
/** Time for which a sink that has dropped records counts as dropping. */
const DROPPING_MS = 600_000;

export class SinkSender implements AsyncDisposable {
  readonly counts: SinkCounts = { sent: 0, posts: 0, failures: 0, dropped: { refused: 0, spool: 0 } };
  readonly #options: SinkSenderOptions;
  readonly #makeRecord: MakeRecord;
  readonly #cursors = new Map<string, SinkCursor>();
  readonly #rounds: Rounds;
  #failuresInRow = 0;
  #retryAt = Number.NEGATIVE_INFINITY;
  #failure = '';
  #dropReason = '';
  #droppedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SinkSenderOptions) {
    this.#options = options;
    this.#makeRecord = recordMaker(options.sink, options.edge);
    this.#rounds = startRounds({
      everyMs: POLL_MS,
      work: (signal) => this.#round(signal),
      onFailure: (error, isRepeated) => {
        if (!isRepeated) options.log.error({ err: error, sink: options.name }, 'cannot send log lines; retrying');
      },
    });
  }

  get trouble(): SinkTrouble | undefined {
    const { name: sink, steadyClock } = this.#options;
    if (steadyClock() - this.#droppedAt < DROPPING_MS) return { sink, state: 'dropping', reason: this.#dropReason };
    return this.#failuresInRow > 0 ? { sink, state: 'failing', reason: this.#failure } : undefined;
  }

  /** Gives up a file, to make room for others, and counts the records that were not sent. */
  async drop({ stem, path }: SinkFile): Promise<void> {
    const { name, places, sink } = this.#options;
    const { sent, isDone } = places.placeOf(name, stem);
    if (isDone) return;
    this.#cursors.delete(stem);
    places.save(name, stem, { sent, isDone: true });
    const rest = new SinkCursor(path, sent, this.#makeRecord, sink);
    for (let batch = await rest.next(0, true); batch !== undefined; batch = await rest.next(0, true)) {
      this.#noteDrop('spool', batch.records.length, 'spool');
      rest.finish(batch);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rounds[Symbol.asyncDispose]();
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { steadyClock } = this.#options;
    if (steadyClock() < this.#retryAt) return;
    const files = this.#options.files();
    const stems = new Set(files.map(({ stem }) => stem));
    for (const stem of this.#cursors.keys()) if (!stems.has(stem)) this.#cursors.delete(stem);
    let hasMore = false;
    await forEachAtOnce(files, MAX_AT_ONCE, async (file) => {
      if (!signal.aborted && (await this.#turn(file, signal))) hasMore = true;
    });
    if (hasMore) this.#rounds.wake();
  }

  /** Sends a batch of the file, if one is due. Returns whether there may be another one at once. */
  async #turn(file: SinkFile, signal: AbortSignal): Promise<boolean> {
    const { name, places, steadyClock } = this.#options;
    if (places.placeOf(name, file.stem).isDone) return false;
    const cursor = this.#cursorOf(file);
    const batch = await nextOf(cursor, file, steadyClock());
    if (batch !== undefined && steadyClock() >= this.#retryAt) {
      const answer = await this.#post(file, batch, signal);
      if (signal.aborted) return false;
      this.#conclude(cursor, batch, answer);
    }
    // Another file may have taken the place of one that was given up meanwhile.
    if (this.#cursors.get(file.stem) !== cursor) return false;
    places.save(name, file.stem, { sent: cursor.position, isDone: cursor.isFinished });
    return batch !== undefined && steadyClock() >= this.#retryAt;
  }

  #cursorOf({ stem, path }: SinkFile): SinkCursor {
    const { name, places, sink } = this.#options;
    const known = this.#cursors.get(stem);
    if (known !== undefined) return known;
    const cursor = new SinkCursor(path, places.placeOf(name, stem).sent, this.#makeRecord, sink);
    this.#cursors.set(stem, cursor);
    return cursor;
  }

  async #post({ stem }: SinkFile, { start, end, records }: SinkBatch, signal: AbortSignal): Promise<SinkAnswer> {
    const { sink, edge, post } = this.#options;
    this.counts.posts++;
    // The end belongs to the key: after a kill the same beginning may stand for more records.
    const content = { edge, key: `${edge}.${stem}.${start}-${end}`, records: records.map(({ json }) => json) };
    return await post(await composeSinkPost(sink, content), signal);
  }

  #conclude(cursor: SinkCursor, batch: SinkBatch, answer: SinkAnswer): void {
    const { steadyClock, name, log } = this.#options;
    const records = batch.records.length;
    const failures = this.#failuresInRow + 1;
    const fate = sinkFateOf(answer, { records, refusals: batch.refusals, failures, random: Math.random() });
    switch (fate.kind) {
      case 'sent':
        if (this.#failuresInRow > 0) log.info({ sink: name }, 'the sink accepts log lines again');
        this.#failuresInRow = 0;
        this.counts.sent += records;
        cursor.finish(batch);
        break;
      case 'halved':
        cursor.halve(batch);
        break;
      case 'dropped':
        this.counts.failures++;
        log.error({ sink: name, records, reason: fate.reason }, 'the sink refuses log lines; they are dropped');
        this.#noteDrop('refused', records, fate.reason);
        this.#failuresInRow = 0;
        cursor.finish(batch);
        break;
      case 'retried':
        this.counts.failures++;
        if (this.#failuresInRow === 0) log.warn({ sink: name, reason: fate.reason }, 'cannot send log lines; retrying');
        if (answer.kind === 'answered' && !isPassingStatus(answer.status)) batch.refusals++;
        this.#failuresInRow = failures;
        this.#failure = fate.reason;
        this.#retryAt = steadyClock() + fate.delayMs;
    }
  }

  #noteDrop(why: keyof SinkCounts['dropped'], records: number, reason: string): void {
    this.counts.dropped[why] += records;
    this.#dropReason = reason;
    this.#droppedAt = this.#options.steadyClock();
  }
}

/** Returns `undefined` also if the file is gone. */
async function nextOf(cursor: SinkCursor, { isEnded }: SinkFile, now: number): Promise<SinkBatch | undefined> {
  try {
    return await cursor.next(now, isEnded);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
