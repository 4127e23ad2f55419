/**
 * The audience of HLS: each address with its User-Agent and key counts as a viewer for 30 s after its last request.
 * Pure; the time is passed in.
 */
import { hash } from 'node:crypto';
import { firstValue } from '#http/headers.ts';
import { readAuthKey } from '#sites/live-key.ts';
import type { EdgeRequest } from '../request.ts';

const WATCHES_MS = 30_000;
/** Viewers of one stream; more are not counted. */
const MAX_OF_STREAM = 10_000;
/** Viewers of all streams of a worker. */
const MAX_VIEWERS = 200_000;
const HASH_CHARS = 16;
/** Texts of usual viewers are shorter; all of them are kept while they watch. */
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
    viewers.set(viewer, now); // behind all that asked before
    this.#size++;
  }

  /** The present viewers by stream. */
  watching(now: number): ReadonlyMap<string, readonly string[]> {
    for (const [stream, viewers] of this.#streams) {
      for (const [viewer, at] of viewers) {
        if (now - at < WATCHES_MS && now >= at) break; // so do all behind it
        viewers.delete(viewer);
        this.#size--;
      }
      if (viewers.size === 0) this.#streams.delete(stream);
    }
    return new Map([...this.#streams].map(([stream, viewers]) => [stream, [...viewers.keys()]]));
  }
}

/** Identifies the viewer within this process. It is asked for with each request, and so not hashed unless it is long. */
export function viewerText({ clientAddress, headers, query }: EdgeRequest): string {
  const key = query === '' ? '' : (readAuthKey(query) ?? '');
  const text = `${clientAddress}\n${firstValue(headers, 'user-agent') ?? ''}\n${key}`;
  return text.length > MAX_TEXT_CHARS ? hashViewer(text) : text;
}

/** A hash that identifies the viewer without revealing who it is. */
export function hashViewer(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, HASH_CHARS);
}
