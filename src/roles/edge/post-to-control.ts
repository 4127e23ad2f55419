/** Sends data that control stores: parts of logs, reports, pieces of recordings. */
import type { ControlLink } from '#feed/client/control-link.ts';
import { FeedRefusal, requestFeed } from '#feed/client/feed-request.ts';
import type { Post } from '#logs/ship/shipper.ts';

/** Long, since control may be writing the data to distant storage. */
const TAKE_MS = 150_000;
/** Statuses with which control refuses data for good: it is malformed or too large. */
const FINAL = [400, 413];

export function postTo(link: ControlLink, path: string): Post<string | Buffer> {
  return async (body, signal) => {
    try {
      const answer = await requestFeed({ link, path, signal, silenceMs: TAKE_MS, body });
      answer.resume();
      return 'taken';
    } catch (error) {
      if (error instanceof FeedRefusal && FINAL.includes(error.status)) return 'refused';
      throw error;
    }
  };
}
