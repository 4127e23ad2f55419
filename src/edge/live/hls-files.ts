/**
 * The HLS files of live streams in a worker's memory. Single flight: viewers that request a file meanwhile share one
 * read from the live process. Access is checked elsewhere, for each request. docs/decisions/0515
 */
import type { RawHeaders } from '#http/headers.ts';
import type { Clock } from '#lib/clock.ts';
import { Lru } from '#lib/lru.ts';
import { wrapBytes } from '../store/memory-body.ts';
import type { StoredBody } from '../store/store.ts';
import { CORS_HEADERS } from './cors.ts';

/** An answer of the live process. */
export interface OwnerFile {
  readonly status: number;
  readonly contentType: string;
  readonly cacheControl: string;
  /** Empty unless the status is 200. */
  readonly bytes: Buffer;
}

export type HlsAnswer = ReadyHlsFile | HlsRefusal;

interface HlsRefusal {
  readonly kind: 'refused';
  /** 400, 404, 429 or 503. */
  readonly status: number;
  /** Expiry, epoch milliseconds, as below. */
  readonly until: number;
}

/** Memory of one worker for HLS files, of which only those of the last seconds are requested. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Approximate memory of an entry besides its bytes. */
const ENTRY_BYTES = 1_000;
/** How long an error is cached, so that a crowd does not repeat it. */
const REFUSED_MS = 1_000;

export class ReadyHlsFile {
  readonly kind = 'file';
  readonly until: number;
  readonly bytes: Buffer;
  readonly body: StoredBody;
  readonly #fields: RawHeaders;
  #headers: RawHeaders = [];
  #date = '';
  #pieces: readonly string[] | undefined;

  constructor({ contentType, cacheControl, bytes }: OwnerFile, now: number) {
    this.until = now + maxAgeMs(cacheControl);
    this.bytes = bytes;
    this.body = wrapBytes(bytes);
    const length = String(bytes.length);
    this.#fields = ['Content-Type', contentType, 'Content-Length', length, 'Cache-Control', cacheControl];
  }

  /** Returns the fields of a complete answer. `date`: value of `Date`. */
  headersAt(date: string): RawHeaders {
    if (this.#date !== date) this.#headers = [...this.#fields, 'Date', date, ...CORS_HEADERS];
    this.#date = date;
    return this.#headers;
  }

  /** Returns the playlist's text as divided by `split`, which is called once. */
  piecesBy(split: (text: string) => readonly string[]): readonly string[] {
    this.#pieces ??= split(this.bytes.toString());
    return this.#pieces;
  }
}

/** Reads a file from the live process; throws if that fails. */
type Read = (path: string) => Promise<OwnerFile>;

interface HlsFilesOptions {
  readonly read: Read;
  readonly clock: Clock;
  /** Longest wait for the live process. */
  readonly waitMs: number;
}

export class HlsFiles {
  readonly #options: HlsFilesOptions;
  readonly #held = new Lru<string, HlsAnswer>({
    maxWeight: MAX_BYTES,
    weigh: (answer) => ENTRY_BYTES + (answer.kind === 'file' ? answer.bytes.length : 0),
  });
  readonly #underWay = new Map<string, Promise<HlsAnswer>>();

  constructor(options: HlsFilesOptions) {
    this.#options = options;
  }

  /** Memory that the held files take. */
  get bytesHeld(): number {
    return this.#held.weight;
  }

  /** Returns a cached answer; `undefined` if the live process has to be asked. `path`: that of the request to it. */
  find(path: string, now: number): HlsAnswer | undefined {
    const held = this.#held.get(path);
    return held !== undefined && now < held.until ? held : undefined;
  }

  /** Joins the read of this path that is in flight, or begins one. The answer never rejects. */
  ask(path: string): { readonly isFirst: boolean; readonly answer: Promise<HlsAnswer> } {
    const joined = this.#underWay.get(path);
    if (joined !== undefined) return { isFirst: false, answer: joined };
    const { promise, resolve } = Promise.withResolvers<HlsAnswer>();
    const timer = setTimeout(() => resolve(AWAY), this.#options.waitMs);
    void this.#fetch(path).then((answer) => {
      clearTimeout(timer);
      this.#underWay.delete(path); // not at the timeout, so that later requests do not start another read
      resolve(answer);
    });
    this.#underWay.set(path, promise);
    return { isFirst: true, answer: promise };
  }

  /** Never rejects. */
  async #fetch(path: string): Promise<HlsAnswer> {
    try {
      const read = await this.#options.read(path);
      const now = this.#options.clock();
      const { status } = read;
      const answer: HlsAnswer =
        status === 200 ? new ReadyHlsFile(read, now) : { kind: 'refused', status, until: now + REFUSED_MS };
      this.#held.set(path, answer);
      return answer;
    } catch {
      return AWAY; // the client of the live process logs it
    }
  }
}

const AWAY: HlsRefusal = { kind: 'refused', status: 503, until: 0 };

/** Returns 0 without `max-age`: only the viewers that waited share the answer. */
function maxAgeMs(cacheControl: string): number {
  return Number(/max-age=(\d{1,9})/.exec(cacheControl)?.[1] ?? 0) * 1000;
}
