/**
 * A process with many feed clients, each with an identity of its own: they follow control from a distance, or download
 * its snapshot. Started by `crowd.ts`, whose orders it obeys until its parent is gone.
 */
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createZstdDecompress } from 'node:zlib';
import { startFeedClient } from '#feed/client/client.ts';
import { type ControlLink, openFleetLink } from '#feed/client/control-link.ts';
import { FeedRefusal } from '#feed/client/feed-request.ts';
import { feedDelayMs } from '#feed/client/reconnect.ts';
import { discardDownload, downloadSnapshot } from '#feed/client/snapshot-download.ts';
import { parseSnapshotHead } from '#feed/wire/messages.ts';
import { SNAPSHOT_PATH } from '#feed/wire/protocol.ts';
import { type StoredIdentity, toIdentity } from '#fleet/identity.ts';
import { systemClock } from '#lib/clock.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import { READY, silentLog } from '../feed/feed.ts';
import { startDelayedWay } from './delayed-way.ts';
import { createPlaceStore } from './place-store.ts';

interface CrowdOrder {
  /** File with a list of `StoredIdentity`. */
  readonly identities: string;
  /** Port of control's listener for edges. */
  readonly port: number;
}

/** Time between the starts of two edges of a process: their handshakes cost this machine the processor time of all of them. */
const START_MS = 60;

/** Follow the feed from this position. */
export interface FollowOrder extends CrowdOrder {
  readonly kind: 'follow';
  readonly at: FeedPosition;
  readonly view: string;
  /** Time that each byte takes to control and back. */
  readonly delayMs: number;
}

/** Download the snapshot once for each identity, verify it and throw it away. */
export interface DownloadOrder extends CrowdOrder {
  readonly kind: 'download';
}

/** Sent when all downloads are complete. */
export interface Downloaded {
  readonly complete: number;
  /** Requests that were refused with 503. */
  readonly refused: number;
  /** Connections that were cut, such as handshakes beyond their limit, and other refusals. */
  readonly failed: number;
  readonly bytes: number;
}

process.on('disconnect', () => process.exit());
// `as`: an order of `crowd.ts`.
process.on('message', (message) => void obey(message as FollowOrder | DownloadOrder));

async function obey(order: FollowOrder | DownloadOrder): Promise<void> {
  // `as`: written by `crowd.ts`.
  const identities = JSON.parse(readFileSync(order.identities, 'utf8')) as StoredIdentity[];
  if (order.kind === 'follow') await follow(order, identities);
  else process.send?.(await download(order, identities));
}

async function follow({ port, at, view, delayMs }: FollowOrder, identities: readonly StoredIdentity[]): Promise<void> {
  const folder = scratch();
  const way = await startDelayedWay({ port }, delayMs);
  for (const identity of identities) {
    await delay(START_MS);
    startFeedClient({
      link: linkOf(identity, way.port),
      edgeId: identity.answer.edge,
      build: 'test',
      store: createPlaceStore(at, view),
      snapshotFile: join(folder, `${identity.answer.edge}.part`),
      confirm: async () => undefined,
      prefetch: async () => ({ kind: 'stored' }),
      listOriginTroubles: () => [],
      describeVitals: () => READY,
      onClockOffset: () => undefined,
      clock: systemClock,
      log: silentLog,
    });
  }
}

async function download({ port }: DownloadOrder, identities: readonly StoredIdentity[]): Promise<Downloaded> {
  const folder = scratch();
  const results = await Promise.all(
    identities.map(async (identity) => {
      using link = linkOf(identity, port);
      return await downloadOne(link, join(folder, `${identity.answer.edge}.part`));
    }),
  );
  const sum = (of: keyof Downloaded) => results.reduce((total, result) => total + result[of], 0);
  return { complete: sum('complete'), refused: sum('refused'), failed: sum('failed'), bytes: sum('bytes') };
}

async function downloadOne(link: ControlLink, file: string): Promise<Downloaded> {
  const { signal } = new AbortController();
  let [refused, failed] = [0, 0];
  const startedAt = performance.now();
  for (let isComplete = false; !isComplete; ) {
    try {
      await downloadSnapshot({ link, path: SNAPSHOT_PATH, file, signal });
      isComplete = true;
    } catch (error) {
      const retryAfterMs = error instanceof FeedRefusal && error.status === 503 ? error.retryAfterMs : undefined;
      if (retryAfterMs === undefined) failed += 1;
      else refused += 1;
      const attempts = {
        failures: refused + failed,
        outageMs: performance.now() - startedAt,
        remoteControls: link.controlCount,
      };
      await delay(feedDelayMs({ kind: 'refused', retryAfterMs }, attempts, Math.random()));
    }
  }
  const bytes = await verify(file);
  discardDownload(file);
  return { complete: 1, refused, failed, bytes };
}

/** Compares count and hash with what the head says, and returns the length of the file. */
async function verify(file: string): Promise<number> {
  const source = createReadStream(file);
  const hash = createHash('sha256');
  let first: Buffer | undefined = Buffer.alloc(0);
  let head: ReturnType<typeof parseSnapshotHead> | undefined;
  let count = 0;
  const take = (lines: Buffer) => {
    hash.update(lines);
    for (let at = lines.indexOf(LF); at >= 0; at = lines.indexOf(LF, at + 1)) count += 1;
  };
  for await (const chunk of source.pipe(createZstdDecompress())) {
    if (first === undefined) take(chunk);
    else {
      first = Buffer.concat([first, chunk]);
      const end = first.indexOf(LF);
      if (end < 0) continue;
      head = parseSnapshotHead(first.subarray(0, end).toString('utf8'));
      take(first.subarray(end + 1));
      first = undefined;
    }
  }
  if (head === undefined || head.count !== count || head.hash !== hash.digest('hex'))
    throw new Error(`a snapshot of ${head?.count} resources came with ${count}`);
  return source.bytesRead;
}

const LF = 10;

function linkOf(stored: StoredIdentity, port: number): ControlLink {
  const identity = toIdentity(stored);
  return openFleetLink({
    controls: [`https://127.0.0.1:${port}`],
    credentials: () => identity,
    random: Math.random,
  });
}

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-crowd-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
