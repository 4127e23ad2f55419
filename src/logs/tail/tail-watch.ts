/**
 * The requests of one process that somebody follows. While nobody does there is no watch, and a request pays for one
 * look at an absent member. docs/decisions/0644
 */
import type { LocalTime } from '#lib/local-time.ts';
import { HitLines } from '../hit-line.ts';
import type { HitRecord } from '../hit-record.ts';
import { type AccessRecord, formatLine } from '../line.ts';
import type { AccessLog } from '../spool.ts';
import { compileFilter, type LogFilter } from './filter.ts';

export interface Tail {
  readonly id: string;
  readonly domainId: number;
  readonly filter: LogFilter;
}

/** Lines of a tail since the last ones. */
export interface TailedLines {
  readonly id: string;
  readonly lines: readonly string[];
  /** Further lines that matched, of which `lines` is a sample. */
  readonly skipped: number;
}

/** Interval of passing lines on, and the most lines of one tail in it: 200 a second. */
const FLUSH_MS = 100;
const LINES_PER_FLUSH = 20;
/** Longer fields are cut: a whole line may have 64 KiB. */
const MAX_FIELD_CHARS = 500;
const LINE_BYTES = 64 * 1024;

interface Followed {
  readonly tail: Tail;
  readonly matches: (fields: readonly string[]) => boolean;
  /** A random sample of the lines that matched since the last flush, in no order. */
  sample: { readonly n: number; readonly line: string }[];
  matched: number;
}

export interface TailedLog {
  readonly log: AccessLog;
  /** Replaces the tails. */
  use(tails: readonly Tail[]): void;
}

/** `send` is called with lines soon after they were written. */
export function tailLog(
  log: AccessLog,
  options: { readonly edge: string; readonly zone: LocalTime; readonly send: (lines: TailedLines) => void },
): TailedLog {
  let watch: Watch | undefined;
  return {
    log: {
      write: (domainId, record) => {
        log.write(domainId, record);
        watch?.write(domainId, record);
      },
      writeHit: (hit) => {
        log.writeHit(hit);
        watch?.writeHit(hit);
      },
      countOrigin: (domainId, bytes) => log.countOrigin(domainId, bytes),
      dropped: () => log.dropped(),
      removedBytes: () => log.removedBytes(),
      flush: () => log.flush(),
      close: async () => {
        watch?.[Symbol.dispose]();
        await log.close();
      },
      [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
    },
    use(tails) {
      watch?.[Symbol.dispose]();
      watch = tails.length === 0 ? undefined : new Watch(tails, options);
    },
  };
}

class Watch implements Disposable {
  readonly #byDomain: ReadonlyMap<number, readonly Followed[]>;
  readonly #zone: LocalTime;
  readonly #hitLines: HitLines;
  readonly #send: (lines: TailedLines) => void;
  readonly #flushing: NodeJS.Timeout;
  readonly #bytes = Buffer.alloc(LINE_BYTES);

  constructor(tails: readonly Tail[], { edge, zone, send }: Parameters<typeof tailLog>[1]) {
    const followed = tails.map((tail): Followed => {
      return { tail, matches: compileFilter(tail.filter, edge), sample: [], matched: 0 };
    });
    this.#byDomain = Map.groupBy(followed, ({ tail }) => tail.domainId);
    this.#zone = zone;
    this.#hitLines = new HitLines(zone);
    this.#send = send;
    this.#flushing = setInterval(() => this.#flush(), FLUSH_MS).unref();
  }

  write(domainId: number, record: AccessRecord): void {
    const followed = this.#byDomain.get(domainId);
    if (followed !== undefined) offer(followed, formatLine(record, this.#zone));
  }

  writeHit(hit: HitRecord): void {
    const followed = this.#byDomain.get(hit.domainId);
    if (followed === undefined) return;
    const end = this.#hitLines.write(this.#bytes, 0, hit);
    const line = this.#bytes.toString('utf8', 0, end);
    offer(followed, line.slice(line.indexOf('\t') + 1));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#flushing);
    this.#flush();
  }

  #flush(): void {
    for (const followed of [...this.#byDomain.values()].flat()) {
      const { tail, sample, matched } = followed;
      if (matched === 0) continue;
      const lines = sample.sort((a, b) => a.n - b.n).map(({ line }) => line);
      followed.sample = [];
      followed.matched = 0;
      this.#send({ id: tail.id, lines, skipped: matched - lines.length });
    }
  }
}

/** Keeps each of the lines that matched with the same probability (reservoir sampling). */
function offer(all: readonly Followed[], line: string): void {
  const fields = line.split('\t');
  for (const followed of all) {
    if (!followed.matches(fields)) continue;
    const n = followed.matched++;
    const kept = { n, line: line.length > MAX_FIELD_CHARS ? fields.map(cut).join('\t') : line };
    if (n < LINES_PER_FLUSH) followed.sample.push(kept);
    else {
      const place = Math.floor(Math.random() * (n + 1));
      if (place < LINES_PER_FLUSH) followed.sample[place] = kept;
    }
  }
}

function cut(field: string): string {
  return field.length > MAX_FIELD_CHARS ? `${field.slice(0, MAX_FIELD_CHARS).toWellFormed()}…` : field;
}
