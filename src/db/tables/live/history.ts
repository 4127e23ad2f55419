/** Broadcasts of the past and viewer counts, and their retention. */
import { sql } from 'kysely';
import { DAY_MS } from '#lib/durations.ts';
import type { BroadcastName, LiveStatus, StreamName, ViewerCounts } from '#model/live-stream.ts';
import type { Executor } from '../../schema/schema.ts';
import { rowList } from '../../statements/lists.ts';

export type ViewerGrain = 'minute' | 'hour';

const GRAIN_MS: Readonly<Record<ViewerGrain, number>> = { minute: 60_000, hour: 3_600_000 };
const BROADCAST_KEEP_MS = 90 * DAY_MS;
const VIEWERS_KEEP_MS: Readonly<Record<ViewerGrain, number>> = { minute: 7 * DAY_MS, hour: 90 * DAY_MS };
/** The oldest are deleted first. */
const MAX_BROADCASTS_PER_DOMAIN = 100_000;

export interface ReportedBroadcast extends BroadcastName {
  readonly edge: string;
  readonly source: string;
  readonly address: string;
  readonly beganAt: number;
  /** 0 while it is on air. */
  readonly endedAt: number;
  /** Empty while it is on air. */
  readonly endReason: string;
  readonly peakViewers: number;
}

export interface BroadcastFilter {
  readonly domainId: number;
  readonly app?: string | undefined;
  readonly stream?: string | undefined;
  /** Both inclusive: matches broadcasts that were on air between them. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly offset: number;
}

/** Returns one page, newest first, and the total of all pages. */
export async function listBroadcasts(
  x: Executor,
  filter: BroadcastFilter,
): Promise<{ readonly total: number; readonly broadcasts: readonly ReportedBroadcast[] }> {
  const { domainId, app, stream, from, to, limit, offset } = filter;
  let matching = x
    .selectFrom('live_broadcast')
    .where('domain_id', '=', domainId)
    .where('began_at', '<=', to)
    .where((e) => e.or([e('ended_at', '=', 0), e('ended_at', '>=', from)]));
  if (app !== undefined) matching = matching.where('app', '=', app);
  if (stream !== undefined) matching = matching.where('stream', '=', stream);
  const { total } = await matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const broadcasts = await matching
    .select(['domain_id as domainId', 'app', 'stream', 'broadcast', 'edge', 'source', 'address'])
    .select(['began_at as beganAt', 'ended_at as endedAt', 'end_reason as endReason', 'peak_viewers as peakViewers'])
    .orderBy('began_at', 'desc')
    .orderBy('app')
    .orderBy('stream')
    .orderBy('broadcast')
    .limit(limit)
    .offset(offset)
    .execute();
  return { total: Number(total), broadcasts };
}

/**
 * Stores viewer counts; for each minute and hour, those with the highest total are kept. `statuses` has each stream
 * once.
 */
export async function addViewers(x: Executor, statuses: readonly LiveStatus[], now: number): Promise<void> {
  const rows = statuses.flatMap(({ domainId, app, stream, viewers: { flv, websocket, rtmp, hls } }) =>
    (['minute', 'hour'] as const).map((grain) => {
      const at = now - (now % GRAIN_MS[grain]);
      return [domainId, app, stream, grain, at, flv, websocket, rtmp, hls];
    }),
  );
  if (rows.length === 0) return;
  await sql`
    insert into live_viewers (domain_id, app, stream, grain, at, flv, websocket, rtmp, hls)
    select cast(value ->> 0 as integer), value ->> 1, value ->> 2, value ->> 3, cast(value ->> 4 as bigint),
      cast(value ->> 5 as integer), cast(value ->> 6 as integer), cast(value ->> 7 as integer), cast(value ->> 8 as integer)
    from ${rowList(x, rows)} where true
    on conflict (domain_id, grain, at, app, stream) do update
      set flv = excluded.flv, websocket = excluded.websocket, rtmp = excluded.rtmp, hls = excluded.hls
      where ${MORE_VIEWERS}`.execute(x);
}

const MORE_VIEWERS = sql<boolean>`
  excluded.flv + excluded.websocket + excluded.rtmp + excluded.hls
    > live_viewers.flv + live_viewers.websocket + live_viewers.rtmp + live_viewers.hls
`;

/** The interval is from `from`, inclusive, to `to`, exclusive. */
export interface ViewerFilter extends Omit<BroadcastFilter, 'limit' | 'offset'> {
  readonly grain: ViewerGrain;
}

/**
 * Returns the viewers of all matching streams together, earliest first. Instants without a stream on air are absent.
 */
export async function listViewers(
  x: Executor,
  { domainId, app, stream, grain, from, to }: ViewerFilter,
): Promise<readonly (ViewerCounts & { readonly at: number })[]> {
  let query = x
    .selectFrom('live_viewers')
    .where('domain_id', '=', domainId)
    .where('grain', '=', grain)
    .where('at', '>=', from)
    .where('at', '<', to);
  if (app !== undefined) query = query.where('app', '=', app);
  if (stream !== undefined) query = query.where('stream', '=', stream);
  const rows = await query
    .select((e) => [
      'at',
      e.fn.sum<number>('flv').as('flv'),
      e.fn.sum<number>('websocket').as('websocket'),
      e.fn.sum<number>('rtmp').as('rtmp'),
      e.fn.sum<number>('hls').as('hls'),
    ])
    .groupBy('at')
    .orderBy('at')
    .execute();
  return rows.map(({ at, flv, websocket, rtmp, hls }) => ({
    at,
    flv: Number(flv),
    websocket: Number(websocket),
    rtmp: Number(rtmp),
    hls: Number(hls),
  }));
}

/** Deletes rows past their retention at `now`, and the oldest broadcasts of domains with more than `maxPerDomain`. */
export async function pruneLiveHistory(
  x: Executor,
  now: number,
  maxPerDomain = MAX_BROADCASTS_PER_DOMAIN,
): Promise<void> {
  const ended = x.deleteFrom('live_broadcast').where('ended_at', '>', 0);
  await ended.where('ended_at', '<', now - BROADCAST_KEEP_MS).execute();
  for (const grain of ['minute', 'hour'] as const) {
    await x
      .deleteFrom('live_viewers')
      .where('grain', '=', grain)
      .where('at', '<', now - VIEWERS_KEEP_MS[grain])
      .execute();
  }
  const full = await x
    .selectFrom('live_broadcast')
    .select('domain_id')
    .groupBy('domain_id')
    .having((e) => e(e.fn.countAll<number>(), '>', maxPerDomain))
    .execute();
  for (const { domain_id } of full) await dropOldest(x, { domainId: domain_id }, maxPerDomain);
}

async function dropOldest(x: Executor, { domainId }: Pick<StreamName, 'domainId'>, keep: number): Promise<void> {
  const newest = await x
    .selectFrom('live_broadcast')
    .select('began_at')
    .where('domain_id', '=', domainId)
    .orderBy('began_at', 'desc')
    .limit(1)
    .offset(keep - 1)
    .executeTakeFirst();
  if (newest === undefined) return;
  await x
    .deleteFrom('live_broadcast')
    .where('domain_id', '=', domainId)
    .where('ended_at', '>', 0)
    .where('began_at', '<', newest.began_at)
    .execute();
}
