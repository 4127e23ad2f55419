/**
 * What a live process takes over from others of this machine: the streams of a predecessor as they end, and what ended
 * processes have not sent to control. docs/decisions/0608
 */
import { isListening } from '#lib/is-listening.ts';
import { lazy } from '#lib/lazy.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import type { LiveFile } from './live-file.ts';
import { Predecessor } from './predecessor.ts';
import type { RecordingSpool } from './recording/spool.ts';
import type { StreamLines } from './stream-lines.ts';

/** What a live process has of its own in the data directory. */
export interface LivePlaces {
  /** Unix socket on which it answers workers and its successor. */
  readonly socketPath: string;
  /** The file of events and of the streams on air; created if missing. */
  readonly file: string;
  /** Directory of recordings that control has not taken; created if missing. */
  readonly recordings: string;
}

export interface HandOverOptions {
  /** The latest first: each has followed the next. */
  readonly predecessors: readonly LivePlaces[];
  /** Places of other generations. */
  readonly others: readonly LivePlaces[];
  readonly lines: StreamLines;
  readonly file: Pick<LiveFile, 'adopt'>;
  readonly spool: Pick<RecordingSpool, 'adopt'>;
  /** Called once when this process is to take new streams. A failure then ends the process. */
  takeOver(): Promise<void>;
  readonly timers: Timers;
  readonly log: Logger;
}

export interface HandOver extends Disposable {
  /** The process that this one takes over from, until it has ended. */
  predecessor(): Predecessor | undefined;
}

/** Interval at which a process is looked for that is ending. */
const LOOK_AGAIN_MS = 1_000;

/** Resolves when `takeOver` does if there is no predecessor, otherwise at once. */
export async function openHandOver(options: HandOverOptions): Promise<HandOver> {
  const takeOver = lazy(options.takeOver);
  let predecessor: Predecessor | undefined;
  let isDisposed = false;
  /** A process that dies while it drains leaves the one that it took over from, which may have streams on air. */
  const follow = async ([next, ...earlier]: readonly LivePlaces[]): Promise<void> => {
    if (next === undefined) return await takeOver();
    const isThere = await isListening(next.socketPath);
    if (isDisposed) return;
    if (!isThere) {
      adopt(options, next);
      return await follow(earlier);
    }
    predecessor = new Predecessor({
      ...options,
      socketPath: next.socketPath,
      onTakeOver: () => void takeOver(),
      onGone() {
        adopt(options, next);
        void follow(earlier); // rejects as `takeOver` does
      },
    });
  };
  /** One that still runs is ending, as after a restart that has failed. */
  const adoptWhenGone = async (left: LivePlaces): Promise<void> => {
    const isThere = await isListening(left.socketPath);
    if (isDisposed) return;
    if (!isThere) adopt(options, left);
    else options.timers.after(LOOK_AGAIN_MS, () => void adoptWhenGone(left)); // rejects never
  };
  for (const left of options.others) await adoptWhenGone(left);
  await follow(options.predecessors);
  return {
    predecessor: () => (predecessor?.isGone === false ? predecessor : undefined),
    [Symbol.dispose]() {
      isDisposed = true;
      predecessor?.[Symbol.dispose]();
    },
  };
}

/** A failure is logged: what is left stays for the next start. */
function adopt({ file, spool, log }: HandOverOptions, left: LivePlaces): void {
  try {
    file.adopt(left.file);
    spool.adopt(left.recordings);
  } catch (error) {
    log.error({ err: error, file: left.file }, 'cannot take over what an earlier live process has left');
  }
}
