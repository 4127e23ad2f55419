/**
 * The last good set of an edge: written by the machine's feed client, read by its workers. Synchronous, with one
 * transaction per change, so a kill leaves the previous set.
 */
import { statSync } from 'node:fs';
import type { StatementSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { inTransaction, isBusy, isDamage } from '#lib/sqlite-file.ts';
import { ADDRESS_LIST_KIND, type AddressListBody } from '#model/address-list.ts';
import type { ChallengeBody } from '#model/challenge.ts';
import type { Rejection } from '#model/edge.ts';
import { EDGE_KIND, type EdgeOrders } from '#model/edge-orders.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import { type LineSink, SINK_KIND } from '#model/line-sink.ts';
import { LIVE_KEYS_KIND, LIVE_MARK_KIND, liveMarkKey } from '#model/live-stream.ts';
import type { ChallengeSource } from '#sites/challenge.ts';
import { type LiveKeys, type LiveMark, type LiveMarkSource, type NamedLiveMark, parseStreamKey } from '#sites/live.ts';
import type { PurgeSpec, SitePurge } from '#sites/purge.ts';
import type { SiteSpec } from '#sites/spec.ts';
import type { CertificatePair, SiteSource } from '#sites/table.ts';
import type { TierSource } from '#sites/tier-source.ts';
import { CONTROLS_KEY, FLEET_KIND, type FleetControls, type FleetId, ID_KEY, WITHHELD } from '../wire/protocol.ts';
import {
  type FileLook,
  isEdgeFileSound,
  lookAtEdgeFile,
  openEdgeFile,
  openEdgeFileToRead,
  prepareApply,
  type StoreChange,
} from './edge-file.ts';
import {
  type CertificateOpener,
  createCertificateOpener,
  createEdgeKey,
  type EdgeKey,
  edgeKeyPath,
} from './edge-key.ts';
import { createEdgePrefetches, type EdgePrefetches } from './edge-prefetches.ts';
import { createStaging, type SnapshotStaging } from './edge-staging.ts';
import { prepareTierReads } from './edge-tiers.ts';
import { createRoutingReader, type RoutingReader } from './routing-reader.ts';
import { closeSecret, forgetUnopened, sealedName } from './sealed-bodies.ts';

export interface EdgeStore extends SiteSource, Disposable {
  /** Absent until the first snapshot. */
  head(): FeedPosition | undefined;
  /** Id of the view that the store has; absent if it has everything. */
  view(): string | undefined;
  /** Addresses of the controls that serve, as control announced them last; empty without an announcement. */
  announcedControls(): readonly string[];
  /** Id of the fleet, 8 hex digits; `undefined` if control has announced none. */
  fleetId(): string | undefined;
  /** Counts the sites. */
  countSites(): number;
  /** Lists the oldest `limit` rejections that still apply. */
  listRejections(limit: number): readonly Rejection[];
  countRejections(): number;
  /** Whether the resource was rejected because control withholds its secret. */
  isWithheld(kind: string, key: string): boolean;
  /** Whether any was. */
  hasWithheld(): boolean;
  /** Applies all changes and the new position, or none. Purges are applied at `now`. */
  applyDelta(to: Omit<FeedPosition, 'epoch'>, changes: readonly StoreChange[], now: number): void;
  /** Begins a snapshot, which takes the place of the current set at its `commit`. */
  stageSnapshot(): SnapshotStaging;
  readonly prefetches: EdgePrefetches;
  /** What a name server needs. To be read anew each time: a repair replaces it. */
  readonly routing: RoutingReader;
  /** Control's orders for an edge; `undefined`: there are none. */
  ordersOf(edge: string): EdgeOrders | undefined;
  /** Sinks of log lines by name. */
  listSinks(): ReadonlyMap<string, LineSink>;
  /**
   * Checks whether the file is still in its place, ours and undamaged. If not, or if `error` (of this store) shows
   * damage, opens the file that is there now, or a new one. Returns true if the store now has another set, or none.
   * Throws if the file cannot be checked or opened for now; call it again.
   */
  repair(error?: unknown): boolean;
}

/** The store as workers and the live process read it. */
export interface SiteReader extends SiteSource, ChallengeSource, LiveMarkSource, TierSource, Disposable {
  /** Absent until the first snapshot. */
  head(): FeedPosition | undefined;
  /** See `EdgeStore`, like the next. */
  announcedControls(): readonly string[];
  fleetId(): string | undefined;
}

const SELECT_SITE = "select revision, body from resource where kind = 'site' and key = ?";
const SELECT_CERTIFICATE = "select body from resource where kind = 'certificate' and key = ?";
const SELECT_ADDRESS_LIST = `select body from resource where kind = '${ADDRESS_LIST_KIND}' and key = ?`;
const SELECT_CHALLENGE = "select body from resource where kind = 'challenge' and key = ?";
const SELECT_LIVE_MARK = `select body from resource where kind = '${LIVE_MARK_KIND}' and key = ?`;
const SELECT_LIVE_MARKS = `select key, body from resource where kind = '${LIVE_MARK_KIND}' order by key`;
const SELECT_LIVE_KEYS = `select body from resource where kind = '${LIVE_KEYS_KIND}' and key = ?`;
const SELECT_CONTROLS = `select body from resource where kind = '${FLEET_KIND}' and key = '${CONTROLS_KEY}'`;
const SELECT_FLEET_ID = `select body from resource where kind = '${FLEET_KIND}' and key = '${ID_KEY}'`;
const SELECT_HEAD = 'select epoch, revision, tag from head';
/**
 * Selects keys from `<site id>:` up to, but not including, `<site id>;`, which are those that begin with `<site id>:`.
 */
const SELECT_PURGES = `
  select body, applied_at from resource join stamp using (key)
    where kind = 'purge' and resource.key >= ? || ':' and resource.key < ? || ';'
`;

/**
 * Opens the store for the feed client, one per file. `onMoved` is notified of the new name of a damaged or foreign
 * file; the store is empty then.
 */
export function openEdgeStore(file: string, onMoved: (to: string) => void): EdgeStore {
  const edgeKey = createEdgeKey(edgeKeyPath(file));
  let open = openStore(file, edgeKey, onMoved);
  /** Fingerprint after our own last write; absent if the file could not be opened again. */
  let lastLook: FileLook | undefined = lookAtEdgeFile(file);
  const write = (work: () => void) => {
    const isAsLeft = isDeepStrictEqual(lookAtEdgeFile(file), lastLook);
    work();
    if (isAsLeft) lastLook = lookAtEdgeFile(file);
  };
  return {
    head: () => toHead(open.selectHead.get()),
    getSpec: (name) => toSpec(open.selectSite.get(name)),
    purgesOf: (siteId) => readPurges(open.selectPurges, siteId),
    getCertificate: (key) => toCertificate(key, open.selectCertificate.get(key), edgeKey),
    urlKeysOf: (siteId) => toUrlKeys(siteId, open.selectLiveKeys.get(String(siteId)), edgeKey),
    getAddressList: (key) => toAddressList(open.selectAddressList.get(key)),
    announcedControls: () => toControls(open.selectControls.get()),
    fleetId: () => toFleetId(open.selectFleetId.get()),
    ordersOf: (edge) => toOrders(open.selectOrders.get(edge)),
    listSinks: () => new Map(open.selectSinks.all().flatMap((row) => toSink(row, edgeKey))),
    view: () => open.selectView.get()?.['view']?.toString(),
    countSites: () => Number(open.countSites.get()?.['n']),
    countRejections: () => Number(open.countRejections.get()?.['n']),
    isWithheld: (kind, key) => open.selectWithheld.get(WITHHELD, kind, key) !== undefined,
    hasWithheld: () => open.selectAnyWithheld.get(WITHHELD) !== undefined,
    // `as`: the columns of the statement below, written by `prepareApply` only.
    listRejections: (limit) => open.selectRejections.all(limit).map((row) => ({ ...row }) as unknown as Rejection),
    applyDelta: (to, changes, now) =>
      write(() =>
        inTransaction(open.database, () => {
          for (const change of changes) open.apply(closeSecret(change, edgeKey), now);
          if (open.moveHead.run(to.revision, to.tag).changes !== 1)
            throw new Error('a delta before the first snapshot');
        }),
      ),
    stageSnapshot: () => {
      const staging = createStaging(open.database);
      return {
        ...staging,
        add: (change) => staging.add(closeSecret(change, edgeKey)),
        commit: (head, now) => write(() => staging.commit(head, now)),
      };
    },
    prefetches: {
      listPending: (revision, limit) => open.prefetches.listPending(revision, limit),
      save: (key, outcome) => write(() => open.prefetches.save(key, outcome)),
      listUnreported: (limit) => open.prefetches.listUnreported(limit),
      markReported: (keys) => write(() => open.prefetches.markReported(keys)),
    },
    get routing() {
      return open.routing;
    },
    repair(error) {
      if (edgeKey.hasChanged() && open.database.isOpen && forgetUnopened(open.database, edgeKey)) {
        lastLook = lookAtEdgeFile(file);
        return true;
      }
      const look = lookAtEdgeFile(file);
      if (!isDamage(error) && look.identity === lastLook?.identity) {
        // If another process wrote, pages cached in memory prove nothing.
        if (look.content === lastLook.content || isEdgeFileSound(file)) {
          lastLook = look;
          return false;
        }
      }
      lastLook = undefined;
      if (open.database.isOpen) open.database.close();
      open = openStore(file, edgeKey, onMoved);
      lastLook = lookAtEdgeFile(file);
      return true;
    },
    [Symbol.dispose]() {
      if (open.database.isOpen) open.database.close();
    },
  };
}

function openStore(file: string, edgeKey: EdgeKey, onMoved: (to: string) => void) {
  const database = openEdgeFile(file, onMoved);
  forgetUnopened(database, edgeKey);
  return {
    database,
    selectSite: database.prepare(SELECT_SITE),
    selectHead: database.prepare(SELECT_HEAD),
    selectPurges: database.prepare(SELECT_PURGES),
    selectCertificate: database.prepare(SELECT_CERTIFICATE),
    selectLiveKeys: database.prepare(SELECT_LIVE_KEYS),
    selectAddressList: database.prepare(SELECT_ADDRESS_LIST),
    selectControls: database.prepare(SELECT_CONTROLS),
    selectFleetId: database.prepare(SELECT_FLEET_ID),
    selectOrders: database.prepare(`select body from resource where kind = '${EDGE_KIND}' and key = ?`),
    selectSinks: database.prepare(`select key, body from resource where kind = '${SINK_KIND}' order by key`),
    selectView: database.prepare('select view from feed_view'),
    countSites: database.prepare("select count(*) as n from resource where kind = 'site'"),
    countRejections: database.prepare('select count(*) as n from rejection'),
    selectRejections: database.prepare(
      'select kind, key, revision, error from rejection order by revision, kind, key limit ?',
    ),
    selectWithheld: database.prepare('select 1 from rejection where error = ? and kind = ? and key = ?'),
    selectAnyWithheld: database.prepare('select 1 from rejection where error = ? limit 1'),
    moveHead: database.prepare('update head set revision = ?, tag = ? where id = 1'),
    apply: prepareApply(database),
    prefetches: createEdgePrefetches(database),
    routing: createRoutingReader(database),
  };
}

/**
 * Opens the file in a worker, read-only. Finds nothing while there is no file. Switches to a file that takes its place
 * as soon as that has a set, since until then the previous one is better than none.
 */
export function openSiteReader(file: string): SiteReader {
  const opener = createCertificateOpener(edgeKeyPath(file));
  let open: OpenReader | undefined;
  const close = () => {
    open?.database.close();
    open = undefined;
  };
  const follow = (inode: bigint) => {
    try {
      const next = openReader(file, inode);
      if (open !== undefined && next.selectHead.get() === undefined) return next.database.close();
      close();
      open = next;
    } catch (error) {
      if (open === undefined) throw error;
    }
  };
  const read = <T>(work: (reader: OpenReader) => T): T | undefined => {
    const inode = statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
    try {
      if (inode !== undefined && open?.inode !== inode) follow(inode);
      return open && work(open);
    } catch (error) {
      close();
      if (isBusy(error)) throw error;
      return undefined; // not laid out yet, or damaged: the feed client repairs it and logs it
    }
  };
  return {
    head: () => read(({ selectHead }) => toHead(selectHead.get())),
    announcedControls: () => read(({ selectControls }) => toControls(selectControls.get())) ?? [],
    fleetId: () => read(({ selectFleetId }) => toFleetId(selectFleetId.get())),
    getTier: (edge) => read(({ tiers }) => tiers.getTier(edge)),
    listTiers: () => read(({ tiers }) => tiers.listTiers()) ?? [],
    getSpec: (name) => read(({ selectSite }) => toSpec(selectSite.get(name))),
    purgesOf: (siteId) => read(({ selectPurges }) => readPurges(selectPurges, siteId)) ?? [],
    getCertificate: (key) => read(({ selectCertificate }) => toCertificate(key, selectCertificate.get(key), opener)),
    urlKeysOf: (siteId) =>
      read(({ selectLiveKeys }) => toUrlKeys(siteId, selectLiveKeys.get(String(siteId)), opener)) ?? [],
    getAddressList: (key) => read(({ selectAddressList }) => toAddressList(selectAddressList.get(key))),
    getChallenge: (key) => read(({ selectChallenge }) => toChallenge(selectChallenge.get(key))),
    getLiveMark: (domainId, app, stream) =>
      read(({ selectLiveMark }) => toLiveMark(selectLiveMark.get(liveMarkKey({ domainId, app, stream })))),
    listLiveMarks: () => read(({ selectLiveMarks }) => selectLiveMarks.all().flatMap(toNamedLiveMark)) ?? [],
    getLiveKeys: (domainId) =>
      read(({ selectLiveKeys }) => toLiveKeys(String(domainId), selectLiveKeys.get(String(domainId)), opener)),
    [Symbol.dispose]: close,
  };
}

type OpenReader = ReturnType<typeof openReader>;

function openReader(file: string, inode: bigint) {
  const database = openEdgeFileToRead(file);
  try {
    return {
      database,
      inode,
      selectSite: database.prepare(SELECT_SITE),
      selectHead: database.prepare(SELECT_HEAD),
      selectPurges: database.prepare(SELECT_PURGES),
      selectCertificate: database.prepare(SELECT_CERTIFICATE),
      selectAddressList: database.prepare(SELECT_ADDRESS_LIST),
      selectChallenge: database.prepare(SELECT_CHALLENGE),
      selectLiveMark: database.prepare(SELECT_LIVE_MARK),
      selectLiveMarks: database.prepare(SELECT_LIVE_MARKS),
      selectLiveKeys: database.prepare(SELECT_LIVE_KEYS),
      selectControls: database.prepare(SELECT_CONTROLS),
      selectFleetId: database.prepare(SELECT_FLEET_ID),
      tiers: prepareTierReads(database),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

type Row = Readonly<Record<string, unknown>> | undefined;

function toHead(row: Row): FeedPosition | undefined {
  return row && { epoch: String(row['epoch']), revision: Number(row['revision']), tag: String(row['tag']) };
}

function toSpec(row: Row): ReturnType<SiteSource['getSpec']> {
  if (row === undefined) return undefined;
  // `as`: only what compiled was stored, by the client of this file.
  return { spec: JSON.parse(String(row['body'])) as SiteSpec, revision: Number(row['revision']) };
}

function toCertificate(key: string, row: Row, opener: CertificateOpener): CertificatePair | undefined {
  const body = row && opener.open(key, String(row['body']));
  // `as`: only what `accept.ts` has checked was stored.
  return body === undefined ? undefined : (JSON.parse(body) as CertificatePair);
}

function toAddressList(row: Row): readonly string[] | undefined {
  // `as`: only what `accept.ts` has checked was stored.
  return row && (JSON.parse(String(row['body'])) as AddressListBody).entries;
}

function toOrders(row: Row): EdgeOrders | undefined {
  // `as`: only what `accept.ts` has checked was stored.
  return row && (JSON.parse(String(row['body'])) as EdgeOrders);
}

function toSink(row: Row, opener: CertificateOpener): readonly (readonly [string, LineSink])[] {
  const name = String(row?.['key']);
  const body = row && opener.open(sealedName(SINK_KIND, name), String(row['body']));
  // `as`: only what `accept.ts` has checked was stored.
  return body === undefined ? [] : [[name, JSON.parse(body) as LineSink]];
}

function toChallenge(row: Row): string | undefined {
  if (row === undefined) return undefined;
  // `as`: only what `accept.ts` has checked was stored.
  return (JSON.parse(String(row['body'])) as ChallengeBody).keyAuthorization;
}

function toLiveMark(row: Row): LiveMark | undefined {
  // `as`: only what `accept.ts` has checked was stored.
  return row && (JSON.parse(String(row['body'])) as LiveMark);
}

function toNamedLiveMark(row: Row): readonly NamedLiveMark[] {
  const name = parseStreamKey(String(row?.['key']));
  const mark = toLiveMark(row);
  return name === undefined || mark === undefined ? [] : [{ ...name, ...mark }];
}

function toLiveKeys(key: string, row: Row, opener: CertificateOpener): LiveKeys | undefined {
  const body = row && opener.open(sealedName(LIVE_KEYS_KIND, key), String(row['body']));
  // `as`: see above.
  return body === undefined ? undefined : (JSON.parse(body) as LiveKeys);
}

function toUrlKeys(siteId: number, row: Row, opener: CertificateOpener): readonly string[] {
  return toLiveKeys(String(siteId), row, opener)?.urls ?? [];
}

function toControls(row: Row): readonly string[] {
  // `as`: only what `accept.ts` has checked was stored.
  return row === undefined ? [] : (JSON.parse(String(row['body'])) as FleetControls).controls;
}

function toFleetId(row: Row): string | undefined {
  // `as`: only what `accept.ts` has checked was stored.
  return row && (JSON.parse(String(row['body'])) as FleetId).id;
}

function readPurges(select: StatementSync, siteId: number): readonly SitePurge[] {
  return select.all(String(siteId), String(siteId)).map((row) => {
    // `as`: only what `accept.ts` has checked was stored.
    const { kind, target } = JSON.parse(String(row['body'])) as PurgeSpec;
    return { kind, target, appliedAt: Number(row['applied_at']) };
  });
}
