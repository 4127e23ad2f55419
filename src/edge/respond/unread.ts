/** Limits a fetch without readers, whose connection other requests to the origin may wait for. */
import type { OriginBody } from '../origin/origin-request.ts';
import type { Fill } from './edge-answer.ts';

/**
 * A smaller body, or one that is more than half fetched, is fetched to its end after its client has left. Edge rule 9
 */
export const FINISH_BELOW_BYTES = 16 * 1024 * 1024;

/** Rate at which the time for the rest of a body of known length is measured. */
const MIN_BYTES_PER_MS = 64;

export interface UnreadLimit {
  /** Begins the limit when the client has left; `gathered`: bytes received so far. */
  start(gathered: number): void;
  note(gathered: number): void;
  stop(): void;
}

/** Ends the source after its time, or when it has grown large without a known length, but not while others read it. */
export function createUnreadLimit(source: OriginBody, fill: Fill | undefined, baseMs: number): UnreadLimit {
  let timer: NodeJS.Timeout | undefined;
  const isUnread = () => timer !== undefined && fill?.shared?.hasReaders !== true;
  const end = () => {
    if (isUnread()) source.destroy();
    else timer?.refresh(); // these readers may leave, too
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
