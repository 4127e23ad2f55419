/** How long a fetch may go on that nobody reads any more: its connection is one that others of its origin may wait for. */
import type { OriginBody } from '../origin/origin-request.ts';
import type { Fill } from './edge-answer.ts';

/** A body that is smaller, or more than half here, is fetched to its end when its client has left. Edge rule 9 */
export const FINISH_BELOW_BYTES = 16 * 1024 * 1024;

/** What is still to come of a known length may take as long as it takes at this rate. */
const MIN_BYTES_PER_MS = 64;

export interface UnreadLimit {
  /** The client has left when so many bytes were there. */
  start(gathered: number): void;
  note(gathered: number): void;
  stop(): void;
}

/** Ends the source when the time is over, or when it has grown large without a known length; not while others read along. */
export function createUnreadLimit(source: OriginBody, fill: Fill | undefined, baseMs: number): UnreadLimit {
  let timer: NodeJS.Timeout | undefined;
  const isUnread = () => timer !== undefined && fill?.shared?.hasReaders !== true;
  const end = () => {
    if (isUnread()) source.destroy();
    else timer?.refresh(); // who reads along may leave too
  };
  return {
    start: (gathered) => {
      const restBytes = (fill?.announcedBytes ?? gathered) - gathered;
      timer = setTimeout(end, baseMs + restBytes / MIN_BYTES_PER_MS);
    },
    note: (gathered) => {
      if (fill?.announcedBytes === undefined && gathered > FINISH_BELOW_BYTES && isUnread()) source.destroy();
    },
    stop: () => clearTimeout(timer),
  };
}
