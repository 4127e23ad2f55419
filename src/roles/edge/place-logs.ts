/** Asks control where parts of logs go, and puts them there. */
import type { ControlLink } from '#feed/client/control-link.ts';
import { FeedRefusal, requestFeed } from '#feed/client/feed-request.ts';
import { LOG_DONE_PATH, LOG_PLACES_PATH } from '#feed/wire/protocol.ts';
import { steadyClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { PlacePartsOptions } from '#logs/ship/place-parts.ts';

/** Long, since control may be asking distant storage about a hundred parts. */
const ANSWER_MS = 150_000;
/** Limit of a PUT. */
const PUT_MS = 120_000;
/** Statuses with which control refuses the question for good: it has no such storage, or does not take the message. */
const FINAL = [400, 404, 413];
const MAX_ANSWER_CHARS = 4 * 1024 * 1024;

export function placesAt(link: ControlLink, log: Logger): PlacePartsOptions {
  return {
    askPlaces: (message, signal) => ask(link, LOG_PLACES_PATH, message, signal),
    tellStored: (message, signal) => ask(link, LOG_DONE_PATH, message, signal),
    put: async ({ url, headers }, bytes, signal) => {
      const { 'content-length': _, ...fields } = headers; // made from the bytes
      const response = await fetch(url, {
        method: 'PUT',
        headers: fields,
        body: bytes as Uint8Array<ArrayBuffer>, // `as`: never in shared memory
        redirect: 'error', // a signature is for one host
        signal: AbortSignal.any([signal, AbortSignal.timeout(PUT_MS)]),
      });
      await response.body?.cancel();
      return response.status;
    },
    steadyClock,
    log,
  };
}

/** Returns `undefined` if this control takes all bytes itself. */
async function ask(link: ControlLink, path: string, body: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await requestFeed({ link, path, signal, silenceMs: ANSWER_MS, body });
    let text = '';
    for await (const piece of answer.setEncoding('utf8')) {
      text += piece;
      if (text.length > MAX_ANSWER_CHARS) throw new Error(`control answered ${path} with too much`);
    }
    return text;
  } catch (error) {
    if (error instanceof FeedRefusal && FINAL.includes(error.status)) return undefined;
    throw error;
  }
}
