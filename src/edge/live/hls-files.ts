/**
 * The HLS files of live streams that a worker holds in memory. Each is read from the live process once for all viewers that ask for it
 * meanwhile. Whether a viewer may have a file is asked elsewhere, each time. docs/decisions/0515
 */
import type { RawHeaders } from '#http/headers.ts';
import type { Clock } from '#lib/clock.ts';
import { Lru } from '#lib/lru.ts';
import { wrapBytes } from '../store/memory-body.ts';
import type { StoredBody } from '../store/store.ts';
import { CORS_HEADERS } from './cors.ts';

/** What the live process answered. */
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
  /** Epoch milliseconds, as below: from here on the live process is asked again. */
  readonly until: number;
}

/** Memory of one worker for files of HLS: those of the last seconds are asked for, whoever watches. */
const MAX_BYTES = 64 * 1024 * 1024;
/** What the engine takes beside the bytes, roughly. */
const ENTRY_BYTES = 1_000;
/** An error is kept for this long, so that not every viewer repeats a question that fails. */
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

  /** The fields of an answer with all of it. `date`: as the field has it. */
  headersAt(date: string): RawHeaders {
    if (this.#date !== date) this.#headers = [...this.#fields, 'Date', date, ...CORS_HEADERS];
    this.#date = date;
    return this.#headers;
  }

  /** The text of a playlist as `split` divides it, which is done once. */
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
  /** Longest wait for a file that the live process has been asked for. */
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

  /** `path`: as the live process is asked for it. `undefined`: it has to be asked. */
  find(path: string, now: number): HlsAnswer | undefined {
    const held = this.#held.get(path);
    return held !== undefined && now < held.until ? held : undefined;
  }

  /** Joins the question for this path that is under way, or asks. The answer never rejects. */
  ask(path: string): { readonly isFirst: boolean; readonly answer: Promise<HlsAnswer> } {
    const joined = this.#underWay.get(path);
    if (joined !== undefined) return { isFirst: false, answer: joined };
    const { promise, resolve } = Promise.withResolvers<HlsAnswer>();
    const timer = setTimeout(() => resolve(AWAY), this.#options.waitMs);
    void this.#fetch(path).then((answer) => {
      clearTimeout(timer);
      this.#underWay.delete(path); // not before: those who come after the timeout do not ask anew
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
      return AWAY; // the client of the live process says in the log that it is away
    }
  }
}

const AWAY: HlsRefusal = { kind: 'refused', status: 503, until: 0 };

/** 0 without one: nobody but those that asked meanwhile gets it. */
function maxAgeMs(cacheControl: string): number {
  return Number(/max-age=(\d{1,9})/.exec(cacheControl)?.[1] ?? 0) * 1000;
}
