/** Recordings of live streams and the pieces that they are stored in; the bytes are blobs. docs/decisions/0503 */
import { sql, type Transaction } from 'kysely';
import { DAY_MS } from '#lib/durations.ts';
import { DEFAULT_SETTINGS, type DomainSettings } from '#model/domain.ts';
import type { BroadcastName } from '#model/live-stream.ts';
import { lockInTransaction } from '../../engines/engine.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import type { BroadcastFilter } from './history.ts';

export interface Recording extends BroadcastName {
  /** `[a-z0-9]{1,32}` */
  readonly id: string;
  readonly edge: string;
  /** Start of the first media, epoch milliseconds. */
  readonly beganAt: number;
  /** When the last media that is stored ends. */
  readonly lastAt: number;
  /** Empty until its end is reported. */
  readonly endReason: string;
  readonly durationMs: number;
  /** Size of the recording as one file: an init segment and all media. */
  readonly bytes: number;
}

export interface RecordingPiece {
  /** Counts from 0. */
  readonly n: number;
  readonly key: string;
  /** Size of the init segment at the beginning of the blob; media follows. */
  readonly initBytes: number;
  readonly mediaBytes: number;
  readonly durationMs: number;
  /** True if the media does not continue the piece before. */
  readonly isDiscontinuity: boolean;
}

type RecordingName = Pick<Recording, 'id' | 'domainId' | 'app' | 'stream' | 'broadcast' | 'edge' | 'beganAt'>;

/** One message of a live process: a piece, the end of a recording, or both. */
export interface Received {
  readonly recording: RecordingName;
  /** Absent if only the end is reported. */
  readonly piece: RecordingPiece | undefined;
  /** Epoch milliseconds. */
  readonly endsAt: number;
  /** Empty: more follows. */
  readonly endReason: string;
}

/** Recordings with media between `from` and `to`. */
export interface RecordingFilter extends Omit<BroadcastFilter, 'domainId'> {
  /** Any of these. */
  readonly domainIds: readonly number[];
}

/** Longer than a recording lasts, so that late pieces of a deleted recording still find its row. */
const KEEP_DELETED_MS = 2 * DAY_MS;

/** `undefined` if the recording does not exist or was deleted. */
export async function findRecording(x: Executor, id: string): Promise<Recording | undefined> {
  return await x
    .selectFrom('live_recording')
    .select(RECORDING)
    .where('recording', '=', id)
    .where('deleted_at', '=', 0)
    .executeTakeFirst();
}

/** Returns one page, newest first, and the total of all pages. */
export async function listRecordings(
  x: Executor,
  { domainIds, app, stream, from, to, limit, offset }: RecordingFilter,
): Promise<{ readonly total: number; readonly recordings: readonly Recording[] }> {
  if (domainIds.length === 0) return { total: 0, recordings: [] };
  let matching = x
    .selectFrom('live_recording')
    .where('domain_id', 'in', domainIds)
    .where('deleted_at', '=', 0)
    .where('bytes', '>', 0)
    .where('began_at', '<=', to)
    .where('last_at', '>=', from);
  if (app !== undefined) matching = matching.where('app', '=', app);
  if (stream !== undefined) matching = matching.where('stream', '=', stream);
  const { total } = await matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const recordings = await matching
    .select(RECORDING)
    .orderBy('began_at', 'desc')
    .orderBy('recording')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total: Number(total), recordings };
}

/** Returns which of `broadcasts` are on air. */
export async function listOnAir(x: Executor, broadcasts: readonly string[]): Promise<ReadonlySet<string>> {
  if (broadcasts.length === 0) return new Set();
  const rows = await x
    .selectFrom('live_broadcast')
    .select('broadcast')
    .where('broadcast', 'in', [...new Set(broadcasts)])
    .where('ended_at', '=', 0)
    .execute();
  return new Set(rows.map(({ broadcast }) => broadcast));
}

/** Returns the pieces in order; with `n` only that piece. */
export async function listPieces(x: Executor, recording: string, n?: number): Promise<readonly RecordingPiece[]> {
  let query = x
    .selectFrom('live_recording_piece')
    .select(['n', 'key', 'init_bytes as initBytes', 'media_bytes as mediaBytes', 'duration_ms as durationMs'])
    .select('is_discontinuity as isDiscontinuity')
    .where('recording', '=', recording);
  if (n !== undefined) query = query.where('n', '=', n);
  const rows = await query.orderBy('n').execute();
  return rows.map(({ isDiscontinuity, ...piece }) => ({ ...piece, isDiscontinuity: isDiscontinuity === 1 }));
}

/** Outcome of storing a piece: `known` if it was stored before, `unwanted` if the recording was deleted. */
export type PieceOutcome = 'stored' | 'known' | 'unwanted';

/** Whether a piece is still to be stored. */
export async function lookUpPiece(x: Executor, recording: string, n: number): Promise<PieceOutcome | 'new'> {
  const row = await x
    .selectFrom('live_recording as r')
    .leftJoin('live_recording_piece as p', (join) => join.onRef('p.recording', '=', 'r.recording').on('p.n', '=', n))
    .select(['r.deleted_at', 'p.n'])
    .where('r.recording', '=', recording)
    .executeTakeFirst();
  if (row === undefined) return 'new';
  if (row.deleted_at !== 0) return 'unwanted';
  return row.n === null ? 'new' : 'known';
}

/** Stores a piece and updates its recording. Receiving the same piece again changes nothing. */
export async function takeReceived(trx: Transaction<Schema>, received: Received): Promise<PieceOutcome> {
  const { recording, piece, endsAt, endReason } = received;
  await lockInTransaction(trx, `recording:${recording.id}`);
  const found = await lookUpPiece(trx, recording.id, piece?.n ?? -1);
  if (found === 'unwanted' || (found === 'known' && endReason === '')) return found;
  await insertRecording(trx, received);
  const isNew = found === 'new' && piece !== undefined;
  if (isNew) await insertPiece(trx, recording.id, piece);
  const days = await readDays(trx, recording.domainId);
  const row = await trx
    .selectFrom('live_recording')
    .selectAll()
    .where('recording', '=', recording.id)
    .executeTakeFirstOrThrow();
  const lastAt = Math.max(row.last_at, endsAt);
  await trx
    .updateTable('live_recording')
    .set({
      last_at: lastAt,
      expires_at: lastAt + days * DAY_MS,
      ...(endReason !== '' && { end_reason: endReason }),
      ...(isNew && {
        duration_ms: row.duration_ms + piece.durationMs,
        bytes: row.bytes + piece.mediaBytes + (row.bytes === 0 ? piece.initBytes : 0),
      }),
    })
    .where('recording', '=', recording.id)
    .execute();
  return found === 'known' ? 'known' : 'stored';
}

async function insertRecording(trx: Transaction<Schema>, { recording, endsAt }: Received): Promise<void> {
  const { id, domainId, beganAt, ...rest } = recording;
  await trx
    .insertInto('live_recording')
    .values({
      ...{ recording: id, domain_id: domainId, ...rest, began_at: beganAt, last_at: endsAt },
      ...{ end_reason: '', duration_ms: 0, bytes: 0, expires_at: 0, deleted_at: 0 },
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function insertPiece(trx: Transaction<Schema>, recording: string, piece: RecordingPiece): Promise<void> {
  const { n, key, initBytes, mediaBytes, durationMs, isDiscontinuity } = piece;
  await trx
    .insertInto('live_recording_piece')
    .values({
      ...{ recording, n, key, init_bytes: initBytes, media_bytes: mediaBytes, duration_ms: durationMs },
      is_discontinuity: isDiscontinuity ? 1 : 0,
    })
    .execute();
}

/** Works for deleted domains too. */
async function readDays(x: Executor, domainId: number): Promise<number> {
  const row = await x.selectFrom('domain').select('settings').where('id', '=', domainId).executeTakeFirst();
  // `as`: written by `tables/domains.ts` only.
  const { recording } = JSON.parse(row?.settings ?? '{}') as Partial<DomainSettings>;
  return recording?.days ?? DEFAULT_SETTINGS.recording.days;
}

/** Applies the domain's new number of days to its existing recordings. */
export async function keepRecordings(trx: Transaction<Schema>, domainId: number, days: number): Promise<void> {
  await trx
    .updateTable('live_recording')
    .set({ expires_at: sql`last_at + ${days * DAY_MS}` })
    .where('domain_id', '=', domainId)
    .execute();
}

/** Hides the recording; `forgetRecordings` deletes its bytes. Returns false if there is no such recording. */
export async function markRecordingDeleted(
  trx: Transaction<Schema>,
  { id, domainIds, now }: { readonly id: string; readonly domainIds: readonly number[]; readonly now: number },
): Promise<boolean> {
  if (domainIds.length === 0) return false;
  const row = await trx
    .updateTable('live_recording')
    .set({ deleted_at: now })
    .where('recording', '=', id)
    .where('domain_id', 'in', domainIds)
    .where('deleted_at', '=', 0)
    .returning('recording')
    .executeTakeFirst();
  return row !== undefined;
}

/** Keys of pieces of deleted and expired recordings, in order, starting after the key `after`. */
export async function listPiecesToForget(
  x: Executor,
  { now, after, limit }: { readonly now: number; readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await x
    .selectFrom('live_recording_piece as p')
    .innerJoin('live_recording as r', 'r.recording', 'p.recording')
    .select('p.key')
    .where((e) => e.or([e('r.deleted_at', '>', 0), e('r.expires_at', '<', now)]))
    .where('p.key', '>', after)
    .orderBy('p.key')
    .limit(limit)
    .execute();
  return rows.map(({ key }) => key);
}

export async function dropPieces(x: Executor, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await x.deleteFrom('live_recording_piece').where('key', 'in', keys).execute();
}

/**
 * Deletes the rows of expired recordings without pieces. A deleted recording keeps its row until no late piece can
 * arrive.
 */
export async function dropEmptyRecordings(x: Executor, now: number): Promise<void> {
  await x
    .deleteFrom('live_recording')
    .where((e) =>
      e.or([
        e.and([e('deleted_at', '=', 0), e('expires_at', '<', now)]),
        e.and([e('deleted_at', '>', 0), e('expires_at', '<', now - KEEP_DELETED_MS)]),
      ]),
    )
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom('live_recording_piece')
            .select('n')
            .whereRef('live_recording_piece.recording', '=', 'live_recording.recording'),
        ),
      ),
    )
    .execute();
}

/** The columns of a `Recording`. */
const RECORDING = [
  ...(['recording as id', 'domain_id as domainId', 'app', 'stream', 'broadcast', 'edge', 'bytes'] as const),
  ...(['began_at as beganAt', 'last_at as lastAt', 'end_reason as endReason', 'duration_ms as durationMs'] as const),
] as const;
