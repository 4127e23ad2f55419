/**
 * Recordings of this machine that control has not accepted yet: a folder for each, with its facts, its init segment and
 * its pieces. File names show which pieces are complete and whether the recording has ended, so that a kill loses only
 * incomplete parts. docs/decisions/0504
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { RECORDING_ENDS, type RecordingEnd } from '#feed/wire/recording-message.ts';
import { Turns } from './turns.ts';

export interface RecordingFacts {
  readonly id: string;
  readonly domainId: number;
  readonly app: string;
  readonly stream: string;
  readonly broadcast: string;
  /** Start of the first media, epoch milliseconds. */
  readonly beganAt: number;
  /** Start of the first media on the broadcast's clock, in milliseconds. */
  readonly baseMs: number;
}

/** A recording in the spool. */
export interface Spooled {
  readonly facts: RecordingFacts;
  readonly folder: string;
  /** Numbers of the complete pieces that are not sent yet, ascending. */
  readonly pieces: number[];
  /** One more than the last piece's number. */
  nextPiece: number;
  end: RecordingEnd | undefined;
  bytes: number;
}

const FACTS_NAME = 'facts.json';
export const INIT_NAME = 'init.mp4';

export function openPieceName(n: number): string {
  return `${n}.open`;
}

export function pieceName(n: number): string {
  return `${n}.piece`;
}

export class RecordingSpool {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #turns = new Turns<Spooled>();
  readonly #domainBytes = new Map<number, number>();
  readonly #onUnreadable: (folder: string) => void;
  #bytes = 0;
  /** Called when a piece or an end can be sent. */
  onReady: () => void = () => undefined;

  /**
   * Takes over what an earlier process left. `onUnreadable` is notified of each folder that is not a recording; it is
   * deleted.
   */
  constructor(directory: string, maxBytes: number, onUnreadable: (folder: string) => void) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#onUnreadable = onUnreadable;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(directory)) this.#takeOver(join(directory, name));
  }

  /** Takes over what another process has left in its directory, and removes that. */
  adopt(directory: string): void {
    if (!existsSync(directory)) return;
    for (const name of readdirSync(directory)) {
      const folder = join(this.#directory, name);
      renameSync(join(directory, name), folder);
      this.#takeOver(folder);
    }
    rmSync(directory, { recursive: true, force: true });
    this.onReady();
  }

  get bytes(): number {
    return this.#bytes;
  }

  get waitingPieces(): number {
    return [...this.#turns].reduce((sum, { pieces }) => sum + pieces.length, 0);
  }

  folderOf({ domainId, id }: RecordingFacts): string {
    return join(this.#directory, `${domainId}.${id}`);
  }

  begin(facts: RecordingFacts): Spooled {
    const spooled = { facts, folder: this.folderOf(facts), pieces: [], nextPiece: 0, end: undefined, bytes: 0 };
    this.#turns.add(facts.domainId, facts.id, spooled);
    return spooled;
  }

  /** Whether the domain may write this many bytes; it gets at most half of the spool. */
  hasRoom(domainId: number, bytes: number): boolean {
    const ofDomain = (this.#domainBytes.get(domainId) ?? 0) + bytes;
    return this.#bytes + bytes <= this.#maxBytes && ofDomain <= this.#maxBytes / 2;
  }

  /** Counts bytes that are about to be written, or, if negative, deleted. */
  count(spooled: Spooled, bytes: number): void {
    const { domainId } = spooled.facts;
    const ofDomain = (this.#domainBytes.get(domainId) ?? 0) + bytes;
    spooled.bytes += bytes;
    this.#bytes += bytes;
    if (ofDomain === 0) this.#domainBytes.delete(domainId);
    else this.#domainBytes.set(domainId, ofDomain);
  }

  /** Adds a complete piece, which can be sent. `end` is set with the last one. */
  addPiece(spooled: Spooled, n: number, end: RecordingEnd | undefined): void {
    spooled.pieces.push(n);
    spooled.end = end;
    this.onReady();
  }

  /** Ends a recording: no piece follows. */
  end(spooled: Spooled, end: RecordingEnd): void {
    spooled.end = end;
    this.onReady();
  }

  /** Returns the recording to be sent from next, except those in `except`; `undefined` if nothing waits. */
  next(except?: ReadonlySet<Spooled>): Spooled | undefined {
    return this.#turns.take((spooled) => {
      const { pieces, end } = spooled;
      return (pieces.length > 0 || end !== undefined) && except?.has(spooled) !== true;
    });
  }

  /** Deletes the first piece, which was sent or is lost. */
  async dropPiece(spooled: Spooled): Promise<void> {
    const n = spooled.pieces.shift();
    if (n === undefined) return;
    const path = join(spooled.folder, pieceName(n));
    this.count(spooled, -((await stat(path).catch(() => undefined))?.size ?? 0));
    await rm(path, { force: true });
  }

  /** Deletes the recording, which was sent completely or never written. */
  async forget(spooled: Spooled): Promise<void> {
    const { facts, folder } = spooled;
    this.#turns.delete(facts.domainId, facts.id);
    this.count(spooled, -spooled.bytes);
    await rm(folder, { recursive: true, force: true });
  }

  #takeOver(folder: string): void {
    const left = readLeft(folder);
    if (left === undefined) {
      this.#onUnreadable(folder);
      rmSync(folder, { recursive: true, force: true });
    } else this.#keep(left);
  }

  #keep(left: Spooled): void {
    this.#turns.add(left.facts.domainId, left.facts.id, left);
    const { bytes } = left;
    left.bytes = 0;
    this.count(left, bytes);
  }
}

/** The file with the facts, written before the first piece. */
export function factsFile({ folder, facts }: Spooled): { readonly path: string; readonly text: string } {
  return { path: join(folder, FACTS_NAME), text: JSON.stringify(facts) };
}

/** Name of the file that marks the end; it is empty, so that it fits on a full disk. */
export function endName(end: RecordingEnd): string {
  return `end.${end}`;
}

/** Reads what an earlier process left. A piece that was open ends with its last complete part. */
function readLeft(folder: string): Spooled | undefined {
  if (!statSync(folder).isDirectory()) return undefined;
  const names = readdirSync(folder);
  const facts = readFacts(folder);
  if (facts === undefined || !names.includes(INIT_NAME)) return undefined;
  for (const name of names)
    if (/^\d+\.open$/.test(name)) renameSync(join(folder, name), join(folder, name.replace('open', 'piece')));
  const pieces = names
    .flatMap((name) => /^(\d+)\.(?:open|piece)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
  const marked = RECORDING_ENDS.find((end) => names.includes(endName(end)));
  const bytes = pieces.reduce((sum, n) => sum + statSync(join(folder, pieceName(n))).size, 0);
  return { facts, folder, pieces, nextPiece: (pieces.at(-1) ?? -1) + 1, end: marked ?? 'crashed', bytes };
}

function readFacts(folder: string): RecordingFacts | undefined {
  try {
    // `as`: only this process writes the file, and renames it into place when it is complete.
    return JSON.parse(readFileSync(join(folder, FACTS_NAME), 'utf8')) as RecordingFacts;
  } catch {
    return undefined; // killed before the file was written
  }
}
