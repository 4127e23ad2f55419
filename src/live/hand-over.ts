/**
 * What a live process takes over from others of this machine: the streams of a predecessor as they end, and what ended
 * processes have not sent to control. docs/decisions/0608
 */
import { isListening } from '#lib/is-listening.ts';
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
  readonly predecessor?: LivePlaces | undefined;
  /** Places of further generations. */
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

/** Resolves when `takeOver` does if there is no predecessor, otherwise at once. */
export async function openHandOver(options: HandOverOptions): Promise<HandOver> {
  const { predecessor: places, others, takeOver } = options;
  for (const left of others) if (!(await isListening(left.socketPath))) adopt(options, left);
  if (places === undefined) {
    await takeOver();
    return { predecessor: () => undefined, [Symbol.dispose]: () => undefined };
  }
  const predecessor = new Predecessor({
    ...options,
    socketPath: places.socketPath,
    onTakeOver: () => void takeOver(),
    onGone: () => adopt(options, places),
  });
  return {
    predecessor: () => (predecessor.isGone ? undefined : predecessor),
    [Symbol.dispose]: () => predecessor[Symbol.dispose](),
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
