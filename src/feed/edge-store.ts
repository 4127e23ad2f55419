/**
 * The last good set of an edge: written by the machine's feed client, read by its workers. Synchronous, one transaction per
 * change, so a process that is killed leaves what was good before.
 */
import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Place } from '#model/place.ts';
import type { PurgeSpec, SitePurge } from '#sites/purge.ts';
import type { SiteSpec } from '#sites/spec.ts';
import type { SiteSource } from '#sites/table.ts';
import {
  inTransaction,
  isBusy,
  openEdgeFile,
  openEdgeFileToRead,
  prepareApply,
  type StoreChange,
} from './edge-file.ts';
import { createEdgePrefetches, type EdgePrefetches } from './edge-prefetches.ts';
import { createStaging, type SnapshotStaging } from './edge-staging.ts';
import type { Rejection } from './protocol.ts';

export interface EdgeStore extends SiteSource, Disposable {
  /** Absent until the first snapshot. */
  head(): Place | undefined;
  /** How many sites there are. */
  countSites(): number;
  /** The oldest `limit` refusals that still stand. */
  listRejections(limit: number): readonly Rejection[];
  countRejections(): number;
  /** Everything and the new place, or nothing. Purges are applied at `now`. */
  applyDelta(to: Omit<Place, 'epoch'>, changes: readonly StoreChange[], now: number): void;
  /** Collects a whole new set beside the present one; nothing changes until its `commit`. */
  stageSnapshot(): SnapshotStaging;
  readonly prefetches: EdgePrefetches;
}

/** What a worker reads from. */
export interface SiteReader extends SiteSource, Disposable {
  /** Absent until the first snapshot. */
  head(): Place | undefined;
}

const SELECT_SITE = "select revision, body from resource where kind = 'site' and key = ?";
const SELECT_HEAD = 'select epoch, revision, tag from head';
/** From `<site id>:` up to, not including, `<site id>;`: what is between them begins with `<site id>:`. */
const SELECT_PURGES = `
  select body, applied_at from resource join stamp using (key)
    where kind = 'purge' and resource.key >= ? || ':' and resource.key < ? || ';'
`;

/** For the feed client, one per file. `onMoved` is told where a damaged or foreign file went; then the store is empty. */
export function openEdgeStore(file: string, onMoved: (to: string) => void): EdgeStore {
  const database = openEdgeFile(file, onMoved);
  const selectSite = database.prepare(SELECT_SITE);
  const selectHead = database.prepare(SELECT_HEAD);
  const selectPurges = database.prepare(SELECT_PURGES);
  const countSites = database.prepare("select count(*) as n from resource where kind = 'site'");
  const countRejections = database.prepare('select count(*) as n from rejection');
  const selectRejections = database.prepare(
    'select kind, key, revision, error from rejection order by revision, kind, key limit ?',
  );
  const moveHead = database.prepare('update head set revision = ?, tag = ? where id = 1');
  const apply = prepareApply(database);
  return {
    head: () => toHead(selectHead.get()),
    getSpec: (name) => toSpec(selectSite.get(name)),
    purgesOf: (siteId) => readPurges(selectPurges, siteId),
    countSites: () => Number(countSites.get()?.['n']),
    countRejections: () => Number(countRejections.get()?.['n']),
    // `as`: the columns of the statement above, written by `prepareApply` only.
    listRejections: (limit) => selectRejections.all(limit).map((row) => ({ ...row }) as unknown as Rejection),
    applyDelta: (to, changes, now) =>
      inTransaction(database, () => {
        for (const change of changes) apply(change, now);
        if (moveHead.run(to.revision, to.tag).changes !== 1) throw new Error('a delta before the first snapshot');
      }),
    stageSnapshot: () => createStaging(database),
    prefetches: createEdgePrefetches(database),
    [Symbol.dispose]: () => database.close(),
  };
}

interface OpenReader {
  readonly database: DatabaseSync;
  readonly inode: bigint;
  readonly selectSite: StatementSync;
  readonly selectHead: StatementSync;
  readonly selectPurges: StatementSync;
}

/** For a worker: only reads, finds nothing while there is no file, and follows when another file takes its place. */
export function openSiteReader(file: string): SiteReader {
  let open: OpenReader | undefined;
  const close = () => {
    open?.database.close();
    open = undefined;
  };
  const read = <T>(work: (reader: OpenReader) => T): T | undefined => {
    const inode = statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
    if (open?.inode !== inode) close();
    if (inode === undefined) return undefined;
    try {
      open ??= openReader(file, inode);
      return work(open);
    } catch (error) {
      close();
      if (isBusy(error)) throw error;
      return undefined; // not laid out yet, or damaged: the feed client repairs it and says so
    }
  };
  return {
    head: () => read(({ selectHead }) => toHead(selectHead.get())),
    getSpec: (name) => read(({ selectSite }) => toSpec(selectSite.get(name))),
    purgesOf: (siteId) => read(({ selectPurges }) => readPurges(selectPurges, siteId)) ?? [],
    [Symbol.dispose]: close,
  };
}

function openReader(file: string, inode: bigint): OpenReader {
  const database = openEdgeFileToRead(file);
  try {
    return {
      database,
      inode,
      selectSite: database.prepare(SELECT_SITE),
      selectHead: database.prepare(SELECT_HEAD),
      selectPurges: database.prepare(SELECT_PURGES),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

type Row = Readonly<Record<string, unknown>> | undefined;

function toHead(row: Row): Place | undefined {
  return row && { epoch: String(row['epoch']), revision: Number(row['revision']), tag: String(row['tag']) };
}

function toSpec(row: Row): ReturnType<SiteSource['getSpec']> {
  if (row === undefined) return undefined;
  // `as`: only what compiled was stored, by the client of this file.
  return { spec: JSON.parse(String(row['body'])) as SiteSpec, revision: Number(row['revision']) };
}

function readPurges(select: StatementSync, siteId: number): readonly SitePurge[] {
  return select.all(String(siteId), String(siteId)).map((row) => {
    // `as`: only what `accept.ts` has checked was stored.
    const { kind, target } = JSON.parse(String(row['body'])) as PurgeSpec;
    return { kind, target, appliedAt: Number(row['applied_at']) };
  });
}
