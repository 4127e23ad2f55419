/** Sends data that control stores: parts of logs, reports, pieces of recordings. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ControlLink } from '#feed/client/control-link.ts';
import { FeedRefusal, requestFeed } from '#feed/client/feed-request.ts';
import type { Post } from '#logs/ship/shipper.ts';

/** Long, since control may be writing the data to distant storage. */
const TAKE_MS = 150_000;
/** Statuses with which control refuses data for good: it is malformed or too large. */
const FINAL = [400, 413];

/** `onTaken` is notified of the fields of the answer. */
export function postTo(
  link: ControlLink,
  path: string,
  onTaken?: (fields: IncomingHttpHeaders) => void,
): Post<string | Buffer> {
  return async (body, signal) => {
    try {
      const answer = await requestFeed({ link, path, signal, silenceMs: TAKE_MS, body });
      answer.resume();
      onTaken?.(answer.headers);
      return 'taken';
    } catch (error) {
      if (error instanceof FeedRefusal && FINAL.includes(error.status)) return 'refused';
      throw error;
    }
  };
}
