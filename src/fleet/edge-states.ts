/**
 * Watches the states of edges: each change becomes an event, and the counts are kept for the metrics. Every control
 * does this; if several notice the same change, one of them writes the event.
 */
import type { Db } from '#db/open.ts';
import { listEdgeViews } from '#db/tables/edges.ts';
import { readCertificateEnds } from '#db/tables/fleet/edge-certificates.ts';
import { noteEdgeState } from '#db/tables/fleet/edge-orders.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { readTimeAfter } from '#db/tables/revision-tags.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import type { EdgeView } from '#model/edge.ts';
import { countStates, type StateCount } from '#model/fleet-status.ts';

const ROUND_MS = 5000;
/** Edges in one transaction: after an outage all of them are in another state. */
const MAX_AT_ONCE = 100;

interface EdgeLag {
  readonly edge: string;
  readonly revisions: number;
  /** Age of the oldest change that it has not applied. */
  readonly seconds: number;
}

interface CertificateEnd {
  readonly edge: string;
  /** Negative once the certificate has ended. */
  readonly seconds: number;
}

export interface EdgeStates extends AsyncDisposable {
  counts(): readonly StateCount[];
  /** Lags of the edges that are served by the feed. */
  lags(): readonly EdgeLag[];
  /** How long the certificates of edges are still valid. */
  certificates(): readonly CertificateEnd[];
}

export interface EdgeStatesOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
}

export function startEdgeStates(options: EdgeStatesOptions): EdgeStates {
  const { log } = options;
  let seen: Seen = { counts: [], lags: [], certificates: [] };
  const rounds = startRounds({
    everyMs: ROUND_MS,
    isDelayed: true, // to keep the start fast
    work: async () => {
      seen = await look(options);
    },
    onFailure: (error, isRepeated) => {
      if (!isRepeated) log.error({ err: error }, 'cannot read the states of edges; retrying');
    },
  });
  return {
    counts: () => seen.counts,
    lags: () => seen.lags,
    certificates: () => seen.certificates,
    [Symbol.asyncDispose]: () => rounds[Symbol.asyncDispose](),
  };
}

interface Seen {
  readonly counts: readonly StateCount[];
  readonly lags: readonly EdgeLag[];
  readonly certificates: readonly CertificateEnd[];
}

async function look({ db, clock, log }: EdgeStatesOptions): Promise<Seen> {
  const now = clock();
  const { revision } = await readConfigHead(db.query);
  const edges = await listEdgeViews(db.query, now);
  const moved = edges.filter(({ state, notedState }) => state !== notedState);
  for (const { edge, state, notedState } of moved)
    log.info({ edge, from: notedState, to: state }, 'edge changed state');
  for (let from = 0; from < moved.length; from += MAX_AT_ONCE)
    await note(db, moved.slice(from, from + MAX_AT_ONCE), now);
  const counted = edges.filter(({ state }) => state !== 'removed');
  const ends = await readCertificateEnds(db.query);
  return {
    counts: countStates(counted),
    lags: await lagsOf(db, counted.filter(isFollowing), revision, now),
    certificates: [...ends].map(([edge, end]) => ({ edge, seconds: (end - now) / 1000 })),
  };
}

/** Notes the states in the order of the edges' ids, in which all statements about several edges lock their rows. */
async function note(db: Db, moved: readonly EdgeView[], now: number): Promise<void> {
  const inOrder = moved.toSorted((a, b) => (a.edge < b.edge ? -1 : 1));
  await db.transaction(async (trx) => {
    for (const { edge, state, notedState } of inOrder)
      await noteEdgeState(trx, { edge, before: notedState, state, at: now });
  });
}

function isFollowing({ state, seenAt }: EdgeView): boolean {
  return seenAt !== undefined && state !== 'away' && state !== 'revoked';
}

async function lagsOf(db: Db, edges: readonly EdgeView[], head: number, now: number): Promise<readonly EdgeLag[]> {
  const behind = new Set(edges.map(({ appliedRevision }) => appliedRevision).filter((applied) => applied < head));
  // Edges that are behind are mostly at the same revision.
  const since = new Map<number, number | undefined>();
  for (const applied of behind) since.set(applied, await readTimeAfter(db.query, applied));
  return edges.map(({ edge, appliedRevision }) => ({
    edge,
    revisions: Math.max(0, head - appliedRevision),
    seconds: Math.max(0, (now - (since.get(appliedRevision) ?? now)) / 1000),
  }));
}
