/** One finished log file, split by domain and hour. */
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { HeavyHitters } from '../heavy-hitters.ts';
import { MAX_TOP, MAX_TOP_CHARS, type Top } from '../report.ts';
import { parseSpooledLine, type SpooledLine } from '../spooled-line.ts';

interface SplitPart {
  readonly domainId: number;
  readonly day: string;
  readonly hour: string;
  readonly lines: number;
  readonly firstAt: number;
  readonly top: Top;
  /** The lines of 13 fields, each with its end. */
  readonly text: Buffer;
}

export interface Split {
  readonly parts: readonly SplitPart[];
  /** Lines that are none: half a one at the end, where a process was killed. */
  readonly brokenLines: number;
}

/** Counters for each list of the most frequent values. */
const MAX_COUNTERS = 200;
/** Lines that are read in one go: others wait meanwhile. */
const LINES_AT_ONCE = 2_000;

/** `file` is of spooled lines and stays unchanged. */
export async function splitLog(file: Buffer): Promise<Split> {
  const groups = new Map<string, Group>();
  let brokenLines = 0;
  let lines = 0;
  for (let start = 0; start < file.length; ) {
    const end = file.indexOf(0x0a, start);
    // The bytes of UTF-8 stay what they are: one character each.
    const line = end === -1 ? undefined : parseSpooledLine(file.toString('latin1', start, end));
    if (line === undefined) brokenLines++;
    else groupFor(groups, line).add(line, file.subarray(start + line.prefixChars, end + 1));
    if (++lines % LINES_AT_ONCE === 0) await yieldToOthers();
    start = end === -1 ? file.length : end + 1;
  }
  return { parts: [...groups.values()].map((group) => group.finish()), brokenLines };
}

function groupFor(groups: Map<string, Group>, line: SpooledLine): Group {
  const name = `${line.domainId}/${line.day}/${line.hour}`;
  let group = groups.get(name);
  if (group === undefined) {
    group = new Group(line);
    groups.set(name, group);
  }
  return group;
}

class Group {
  readonly #first: SpooledLine;
  readonly #lines: Buffer[] = [];
  #firstAt: number;
  readonly #urls = new HeavyHitters(MAX_COUNTERS);
  readonly #referers = new HeavyHitters(MAX_COUNTERS);
  readonly #clients = new HeavyHitters(MAX_COUNTERS);

  constructor(first: SpooledLine) {
    this.#first = first;
    this.#firstAt = first.endedAt;
  }

  add({ target, referer, clientAddress, endedAt, request }: SpooledLine, line: Buffer): void {
    this.#firstAt = Math.min(this.#firstAt, endedAt);
    this.#lines.push(line);
    const bytes = request.responseBytes;
    this.#urls.add(target.slice(0, MAX_TOP_CHARS), bytes);
    if (referer !== '') this.#referers.add(referer.slice(0, MAX_TOP_CHARS), bytes);
    this.#clients.add(clientAddress, bytes);
  }

  finish(): SplitPart {
    const { domainId, day, hour } = this.#first;
    const top = {
      url: this.#urls.top(MAX_TOP),
      referer: this.#referers.top(MAX_TOP),
      client: this.#clients.top(MAX_TOP),
    };
    return {
      domainId,
      day,
      hour,
      lines: this.#lines.length,
      firstAt: this.#firstAt,
      top,
      text: Buffer.concat(this.#lines),
    };
  }
}
