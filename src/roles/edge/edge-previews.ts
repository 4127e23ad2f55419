/** Sends live streams of this machine to control, where sessions of the console play them. docs/decisions/0702 */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { pathOf } from '#edge/live/owner-client.ts';
import type { ControlLink } from '#feed/client/control-link.ts';
import { openUpload } from '#feed/client/upload.ts';
import type { Logger } from '#lib/logger.ts';
import type { StreamName } from '#sites/live.ts';

export interface EdgePreviewsOptions {
  readonly link: ControlLink;
  readonly edgeId: string;
  /** Socket of the live process. */
  readonly liveSocket: string;
  readonly log: Logger;
}

/** Previews at once: those of some controls. */
const MAX_OPEN = 32;
/** Time for the live process to answer. */
const ANSWER_MS = 5_000;

export class EdgePreviews {
  readonly #options: EdgePreviewsOptions;
  readonly #open = new Map<string, AbortController>();

  constructor(options: EdgePreviewsOptions) {
    this.#options = options;
  }

  /** Sends the stream until the question is over, if this machine has it on air. */
  open(id: string, limitMs: number, name: StreamName): void {
    if (this.#open.has(id) || this.#open.size >= MAX_OPEN) return;
    const stop = new AbortController();
    this.#open.set(id, stop);
    void this.#send(id, name, AbortSignal.any([stop.signal, AbortSignal.timeout(limitMs)])); // never rejects
  }

  close(id: string): void {
    this.#open.get(id)?.abort();
  }

  closeAll(): void {
    for (const stop of this.#open.values()) stop.abort();
  }

  async #send(id: string, name: StreamName, signal: AbortSignal): Promise<void> {
    const { link, edgeId: edge, liveSocket, log } = this.#options;
    try {
      const media = await openMedia(liveSocket, name, signal);
      if (media === undefined) return;
      const upload = await openUpload(link, { edge, id, signal });
      if (upload === undefined) media.destroy();
      else await pipeline(media, upload, { signal }); // backpressure: the live process drops frames
    } catch (error) {
      if (!signal.aborted) log.debug({ err: error }, 'a preview of a live stream has ended');
    } finally {
      this.#open.delete(id);
    }
  }
}

/** Returns `undefined` if this machine does not have the stream. */
async function openMedia(
  socketPath: string,
  name: StreamName,
  signal: AbortSignal,
): Promise<IncomingMessage | undefined> {
  const outgoing = httpRequest({ socketPath, path: `${pathOf(name)}/flv?preview`, agent: false, signal });
  outgoing.setTimeout(ANSWER_MS, () => outgoing.destroy());
  outgoing.end();
  try {
    // `as`: what the event `response` of a client request carries.
    const [media] = (await once(outgoing, 'response')) as [IncomingMessage];
    outgoing.setTimeout(0).on('error', () => undefined); // the reader of the media gets it
    if (media.statusCode === 200) return media;
    media.destroy();
  } catch {
    // no live process
  }
  return undefined;
}
