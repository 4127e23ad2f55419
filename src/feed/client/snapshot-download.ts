/**
 * Fetches the file of a snapshot from a control on another machine, and goes on with one that was cut: also after a
 * restart, and at another control only if that has the same file.
 */
import { createWriteStream, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { isCount } from '#lib/is-count.ts';
import { parseObject } from '#lib/parse-object.ts';
import { MessageError } from '../wire/messages.ts';
import { CONTINUES_HEADER, SILENCE_MS } from '../wire/protocol.ts';
import type { ControlLink } from './control-link.ts';
import { requestFeed } from './feed-request.ts';

/** Properties of the file that is being fetched. */
interface Begun {
  readonly etag: string;
  readonly sizeBytes: number;
  readonly continues: boolean;
}

export interface SnapshotSource {
  readonly link: ControlLink;
  /** Path with the position of this edge, if it has one. */
  readonly path: string;
  /** File that the bytes are collected in. Their properties are kept beside it. */
  readonly file: string;
  readonly signal: AbortSignal;
}

/**
 * Resolves when the file is complete; rejects if the transfer ends early, and the next call goes on with it.
 * `continues`: whether the position of this edge belongs to control's history.
 */
export async function downloadSnapshot(options: SnapshotSource): Promise<{ readonly continues: boolean }> {
  const { link, path, file, signal } = options;
  const known = readBegun(file);
  const start = known === undefined ? 0 : sizeOf(file);
  if (known !== undefined && start === known.sizeBytes) return known;
  const headers = known !== undefined && start > 0 ? { range: `bytes=${start}-`, 'if-range': known.etag } : {};
  const response = await requestFeed({ link, path, signal, silenceMs: SILENCE_MS, headers, isStream: true });
  const isRest = response.statusCode === 206 && known !== undefined;
  const begun = isRest ? known : readHead(response);
  if (!isRest) {
    rmSync(file, { force: true });
    writeFileSync(noteOf(file), JSON.stringify(begun), { mode: 0o600 });
  }
  await pipeline(response, createWriteStream(file, { flags: 'a', mode: 0o600 }), { signal });
  const sizeBytes = sizeOf(file);
  if (sizeBytes === begun.sizeBytes) return begun;
  if (sizeBytes > begun.sizeBytes) discardDownload(file);
  throw new Error(`the snapshot ended after ${sizeBytes} of ${begun.sizeBytes} bytes`);
}

/** Deletes what was fetched. */
export function discardDownload(file: string): void {
  rmSync(noteOf(file), { force: true });
  rmSync(file, { force: true });
}

function readHead({ headers }: IncomingMessage): Begun {
  const { etag, 'content-length': length } = headers;
  const sizeBytes = Number(length);
  if (etag === undefined || length === undefined || !isCount(sizeBytes))
    throw new MessageError('a snapshot without ETag and Content-Length');
  return { etag, sizeBytes, continues: headers[CONTINUES_HEADER] === 'true' };
}

function noteOf(file: string): string {
  return `${file}.json`;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function readBegun(file: string): Begun | undefined {
  try {
    const { etag, sizeBytes, continues } = parseObject(readFileSync(noteOf(file), 'utf8')) ?? {};
    if (typeof etag !== 'string' || !isCount(sizeBytes) || typeof continues !== 'boolean') return undefined;
    return { etag, sizeBytes, continues };
  } catch {
    return undefined; // nothing was begun
  }
}
