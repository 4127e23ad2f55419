/**
 * The audience of HLS: each address with its User-Agent and key counts as a viewer for 30 s after its last request.
 * Pure; the time is passed in.
 */
import { hash } from 'node:crypto';
import { firstValue } from '#http/headers.ts';
import { readAuthKey } from '#sites/live-key.ts';
import type { EdgeRequest } from '../request.ts';

const WATCHES_MS = 30_000;
/** Limit of counted viewers of one stream. */
const MAX_OF_STREAM = 10_000;
/** Limit of counted viewers of all streams of a worker. */
const MAX_VIEWERS = 200_000;
const HASH_CHARS = 16;
/** Longest text that is kept as it is; those of usual viewers are shorter. */
const MAX_TEXT_CHARS = 300;

export class Audience {
  /** The time of each viewer's last request, by stream. */
  readonly #streams = new Map<string, Map<string, number>>();
  #size = 0;

  note(stream: string, viewer: string, now: number): void {
    let viewers = this.#streams.get(stream);
    if (viewers === undefined) {
      if (this.#size >= MAX_VIEWERS) return;
      viewers = new Map();
      this.#streams.set(stream, viewers);
    }
    if (viewers.delete(viewer)) this.#size--;
    else if (viewers.size >= MAX_OF_STREAM || this.#size >= MAX_VIEWERS) return;
    viewers.set(viewer, now); // at the end: in order of the last request
    this.#size++;
  }

  /** Returns the current viewers by stream. */
  watching(now: number): ReadonlyMap<string, readonly string[]> {
    for (const [stream, viewers] of this.#streams) {
      for (const [viewer, at] of viewers) {
        if (now - at < WATCHES_MS && now >= at) break; // as do all after it
        viewers.delete(viewer);
        this.#size--;
      }
      if (viewers.size === 0) this.#streams.delete(stream);
    }
    return new Map([...this.#streams].map(([stream, viewers]) => [stream, [...viewers.keys()]]));
  }
}

/**
 * Returns a text that identifies the viewer within this process. It is made for each request, so only a long one is
 * hashed.
 */
export function viewerText({ clientAddress, headers, query }: EdgeRequest): string {
  const key = query === '' ? '' : (readAuthKey(query) ?? '');
  const text = `${clientAddress}\n${firstValue(headers, 'user-agent') ?? ''}\n${key}`;
  return text.length > MAX_TEXT_CHARS ? hashViewer(text) : text;
}

/** Returns a hash that identifies the viewer without revealing its address. */
export function hashViewer(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, HASH_CHARS);
}
