/**
 * The format of a piece in the spool: a line of JSON, then parts, each preceded by its length and duration. Parts are
 * appended as they arrive, so a truncated file still has all but its last part. Pure.
 */
import { parseObject } from '#lib/parse-object.ts';

export interface PieceHead {
  /** Start of the first media, epoch milliseconds. */
  readonly startsAt: number;
  /** Whether the media does not continue the previous piece. */
  readonly isDiscontinuity: boolean;
}

export interface ReadPiece extends PieceHead {
  readonly durationMs: number;
  /** The whole parts, at least one. */
  readonly parts: readonly Buffer[];
}

/** Length as 32 bits, duration in milliseconds as a double. */
const PART_HEAD_BYTES = 12;
export const PART_OVERHEAD_BYTES = PART_HEAD_BYTES;

export function formatPieceHead(head: PieceHead): Buffer {
  return Buffer.from(`${JSON.stringify(head)}\n`);
}

/** Formats the header that precedes the bytes of a part. */
export function formatPartHead(bytes: number, durationMs: number): Buffer {
  const head = Buffer.alloc(PART_HEAD_BYTES);
  head.writeDoubleBE(durationMs, head.writeUInt32BE(bytes, 0));
  return head;
}

/** Returns `undefined` if the file has no whole part. */
export function readPiece(file: Buffer): ReadPiece | undefined {
  const lineEnd = file.indexOf('\n');
  const head = lineEnd === -1 ? undefined : readHead(file.toString('utf8', 0, lineEnd));
  if (head === undefined) return undefined;
  const parts: Buffer[] = [];
  let durationMs = 0;
  for (let at = lineEnd + 1; at + PART_HEAD_BYTES < file.length; ) {
    const start = at + PART_HEAD_BYTES;
    const end = start + file.readUInt32BE(at);
    if (end > file.length || end === start) break;
    parts.push(file.subarray(start, end));
    durationMs += file.readDoubleBE(at + 4);
    at = end;
  }
  return parts.length === 0 ? undefined : { ...head, durationMs, parts };
}

function readHead(line: string): PieceHead | undefined {
  const { startsAt, isDiscontinuity } = parseObject(line) ?? {};
  if (!Number.isSafeInteger(startsAt) || typeof isDiscontinuity !== 'boolean') return undefined;
  return { startsAt: Number(startsAt), isDiscontinuity };
}
