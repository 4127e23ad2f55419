/**
 * Splits a finished log file by domain and hour: first it finds the lines of each, then it reads one part at a time.
 */
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type HeavyHitter, HeavyHitters } from '../heavy-hitters.ts';
import { MAX_TOP, MAX_TOP_CHARS, type Top } from '../report.ts';
import { idOfPrefix, parseSpooledLine } from '../spooled-line.ts';

/** The lines of one domain in one hour of the time zone. */
export interface Group {
  readonly domainId: number;
  /** Such as `2025-01-31`; the hour such as `23`. */
  readonly day: string;
  readonly hour: string;
  /** Start and end offset of each line in the file, alternating. */
  readonly places: number[];
}

export interface Groups {
  readonly groups: readonly Group[];
  /** Invalid lines, such as half a line at the end, left by a killed process. */
  readonly brokenLines: number;
}

export interface SplitPart {
  readonly lines: number;
  readonly brokenLines: number;
  readonly firstAt: number;
  readonly top: Top;
  /** The lines of 13 fields, each with its end. */
  readonly text: Buffer;
}

/** Counters for each list of the most frequent values. */
const MAX_COUNTERS = 200;
/** Lines per turn of the event loop. */
const LINES_AT_ONCE = 2_000;

const LF = 0x0a;
const TAB = 0x09;
/** Length of `2025-01-31T23`. */
const HOUR_CHARS = 13;

/** Groups the lines of a spool file. Reads only their beginnings. */
export async function groupLines(file: Buffer): Promise<Groups> {
  const hours = new Map<string, Map<string, Group>>();
  let brokenLines = 0;
  let lines = 0;
  for (let start = 0; start < file.length; ) {
    const end = file.indexOf(LF, start);
    const idEnd = file.indexOf(TAB, start);
    const time = file.indexOf(TAB, idEnd + 1) + 1; // after the client's address
    if (idEnd === -1 || time === 0 || end < time + HOUR_CHARS) brokenLines++;
    else {
      const id = idOfPrefix(file.toString('latin1', start, idEnd));
      groupFor(hours, file.toString('latin1', time, time + HOUR_CHARS), id).places.push(start, end + 1);
    }
    if (++lines % LINES_AT_ONCE === 0) await yieldToOthers();
    start = end === -1 ? file.length : end + 1;
  }
  return { groups: [...hours.values()].flatMap((domains) => [...domains.values()]), brokenLines };
}

function groupFor(hours: Map<string, Map<string, Group>>, hour: string, id: string): Group {
  let domains = hours.get(hour);
  if (domains === undefined) {
    domains = new Map();
    hours.set(hour, domains);
  }
  let group = domains.get(id);
  if (group === undefined) {
    group = { domainId: Number(id), day: hour.slice(0, 10), hour: hour.slice(11), places: [] };
    domains.set(id, group);
  }
  return group;
}

/** Reads the part of the file that the group describes. */
export async function readLogPart(file: Buffer, { places }: Group): Promise<SplitPart> {
  const text = Buffer.allocUnsafe(places.reduce((sum, place, n) => sum + (n % 2 === 0 ? -place : place), 0));
  const urls = new HeavyHitters(MAX_COUNTERS);
  const referers = new HeavyHitters(MAX_COUNTERS);
  const clients = new HeavyHitters(MAX_COUNTERS);
  const statuses = new HeavyHitters(MAX_COUNTERS);
  let [firstAt, lines, brokenLines, bytes] = [Number.POSITIVE_INFINITY, 0, 0, 0];
  for (let n = 0; n < places.length; n += 2) {
    const [start = 0, end = 0] = [places[n], places[n + 1]];
    // One character per byte, so that UTF-8 stays unchanged.
    const line = parseSpooledLine(file.toString('latin1', start, end - 1));
    if (line === undefined) brokenLines++;
    else {
      const { responseBytes, isContinued, status } = line.request;
      firstAt = Math.min(firstAt, line.endedAt);
      lines++;
      bytes += file.copy(text, bytes, start + line.prefixChars, end);
      urls.add(line.target.slice(0, MAX_TOP_CHARS), responseBytes, isContinued);
      if (line.referer !== '') referers.add(line.referer.slice(0, MAX_TOP_CHARS), responseBytes, isContinued);
      clients.add(line.clientAddress, responseBytes, isContinued);
      statuses.add(String(status), responseBytes, isContinued);
    }
    if ((n / 2 + 1) % LINES_AT_ONCE === 0) await yieldToOthers();
  }
  const top = {
    url: readTop(urls),
    referer: readTop(referers),
    client: readTop(clients),
    status: readTop(statuses),
  };
  return { lines, brokenLines, firstAt, top, text: text.subarray(0, bytes) };
}

/** Returns the top entries, decoded from one character per byte. */
function readTop(hitters: HeavyHitters): HeavyHitter[] {
  return hitters.top(MAX_TOP).map((one) => ({ ...one, value: decodeWhole(Buffer.from(one.value, 'latin1')) }));
}

/** Decodes UTF-8 without the incomplete character at a cut end. */
function decodeWhole(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}
