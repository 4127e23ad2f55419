/** Reads growing journals into the outbox, and counts the lines of ended log files that their journals lack. */
import { type FileHandle, open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MINUTE_MS } from '#lib/durations.ts';
import { unlessMissing } from '#lib/file-error.ts';
import { addCounters, countRequest, type MinuteCounters } from '../counters.ts';
import { expandLines } from '../expand.ts';
import { parseRecord } from '../journal.ts';
import { spoolOf, stemOf } from '../spool-names.ts';
import { parseSpooledLine } from '../spooled-line.ts';
import { Tally } from '../tally.ts';
import type { Outbox } from './outbox.ts';

/** Bytes of a journal that are read at once; parsed, they take some ten times as many. */
const CHUNK_BYTES = 1024 * 1024;
/** Limit of a record, longer than any. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024;

/**
 * Returns the stems whose files have ended and are counted completely, the oldest first. `writers` are the spools that
 * have a worker; files of other spools count as ended. `counted` has the stems that were returned before for this
 * outbox, which are not read again.
 */
export async function collect(
  directory: string,
  outbox: Outbox,
  writers: readonly string[],
  counted: Set<string>,
): Promise<readonly string[]> {
  for (const file of await readdir(directory)) {
    const stem = stemOf(file, '.stats');
    if (stem === undefined || writers.includes(spoolOf(stem))) continue;
    await rename(join(directory, file), join(directory, `${stem}.done`));
  }
  const files = await readdir(directory);
  for (const file of files) {
    const stem = stemOf(file, '.stats');
    if (stem !== undefined) await readJournal(join(directory, file), stem, outbox);
  }
  const done = files.flatMap((file) => stemOf(file, '.done') ?? []).sort();
  for (const stem of counted.difference(new Set(done))) counted.delete(stem);
  for (const stem of done) {
    if (counted.has(stem)) continue;
    await readJournal(join(directory, `${stem}.done`), stem, outbox);
    await countRest(join(directory, `${stem}.log`), stem, outbox);
    counted.add(stem);
  }
  // A log whose journal was removed is counted when it ends.
  const known = (file: string) => stemOf(file, '.stats') ?? stemOf(file, '.done') ?? stemOf(file, '.log') ?? [];
  outbox.forgetOthers(files.flatMap(known));
  return done;
}

async function readJournal(path: string, stem: string, outbox: Outbox): Promise<void> {
  const handle = await unlessMissing(open(path)); // if it was renamed since it was listed, the next call reads it
  if (handle === undefined) return;
  try {
    while (await readChunk(handle, stem, outbox));
  } finally {
    await handle.close();
  }
}

/** Returns false if there was no further whole line. */
async function readChunk(handle: FileHandle, stem: string, outbox: Outbox): Promise<boolean> {
  const place = outbox.placeOf(stem);
  const unread = (await handle.stat()).size - place.readTo;
  const buffer =
    (await readLines(handle, place.readTo, Math.min(unread, CHUNK_BYTES))) ??
    (await readLines(handle, place.readTo, Math.min(unread, MAX_RECORD_BYTES)));
  if (buffer === undefined) return false;
  const records = buffer
    .toString()
    .split('\n')
    .map(parseRecord)
    .filter((record) => record !== undefined);
  const upTo = records.reduce((most, record) => Math.max(most, record.upTo), place.upTo);
  outbox.advance(stem, { readTo: place.readTo + buffer.length, upTo }, sum(records.flatMap(({ counts }) => counts)));
  return true;
}

/** Returns whole lines with their line ends; `undefined` if there is none within `bytes`. */
async function readLines(handle: FileHandle, position: number, bytes: number): Promise<Buffer | undefined> {
  if (bytes <= 0) return undefined;
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(bytes), { position });
  const lines = buffer.subarray(0, bytesRead);
  const end = lines.lastIndexOf(0x0a);
  return end === -1 ? undefined : lines.subarray(0, end + 1);
}

/** Counts the lines that a killed process wrote to the log but not yet to its journal, within half a second. */
async function countRest(path: string, stem: string, outbox: Outbox): Promise<void> {
  const place = outbox.placeOf(stem);
  const size = (await unlessMissing(stat(path)))?.size ?? 0;
  if (size <= place.upTo) return;
  const rest = await expandLines((await readFile(path)).subarray(place.upTo));
  const tally = new Tally();
  for (const text of rest.toString('latin1').split('\n').slice(0, -1)) {
    const line = parseSpooledLine(text);
    if (line !== undefined) countRequest(tally.of(line.domainId, Math.floor(line.endedAt / MINUTE_MS)), line.request);
  }
  outbox.advance(stem, { ...place, upTo: size }, tally.take());
}

/** Sums up counts by domain and minute. */
function sum(counts: readonly MinuteCounters[]): MinuteCounters[] {
  const tally = new Tally();
  for (const one of counts) addCounters(tally.of(one.domainId, one.minute), one);
  return tally.take();
}
