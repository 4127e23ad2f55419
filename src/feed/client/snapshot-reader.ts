/** Reads a snapshot: stages it line by line, and commits it only if count and hash match. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Clock } from '#lib/clock.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import type { StoreChange } from '../store/edge-file.ts';
import type { SnapshotStaging } from '../store/edge-staging.ts';
import type { EdgeStore } from '../store/edge-store.ts';
import { splitLines } from '../wire/lines.ts';
import { MessageError, parseChange, parseSnapshotHead } from '../wire/messages.ts';
import { formatPositionQuery } from '../wire/position-query.ts';
import { type ResourceChange, SILENCE_MS, SNAPSHOT_PATH, type SnapshotHead } from '../wire/protocol.ts';
import type { ControlLink } from './control-link.ts';
import type { EdgeViewKeys } from './edge-view-keys.ts';
import { requestFeed } from './feed-request.ts';
import { discardDownload, downloadSnapshot } from './snapshot-download.ts';
import { createAcceptor } from './withheld.ts';

/** Limit of a resource, far above what control accepts. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;

export interface SnapshotOptions {
  readonly link: ControlLink;
  readonly viewKeys: EdgeViewKeys;
  /** Where the file of a control on another machine is collected. */
  readonly file: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Resolves when the store has the snapshot; rejects without any change if it is incomplete. */
export async function takeSnapshot(store: EdgeStore, options: SnapshotOptions): Promise<SnapshotHead> {
  const { link, file, clock, signal } = options;
  const path = pathFrom(store.head());
  if (!link.isRemote) {
    const response = await requestFeed({ link, path, signal, silenceMs: SILENCE_MS });
    return await applySnapshot(store, response, options, clock());
  }
  const { continues } = await downloadSnapshot({ link, path, file, signal });
  try {
    return await applySnapshot(store, createReadStream(file), options, clock(), continues);
  } finally {
    // Only an aborted read goes on with the file later.
    if (!signal.aborted) discardDownload(file);
  }
}

/** `continues`: replaces the member of the head, if given. */
async function applySnapshot(
  store: EdgeStore,
  source: Readable,
  { viewKeys, signal }: SnapshotOptions,
  now: number,
  continues?: boolean,
): Promise<SnapshotHead> {
  using staging = store.stageSnapshot();
  const accept = createAcceptor(store, { isFresh: true });
  const take = async (changes: readonly ResourceChange[]) => accept(await viewKeys.open(changes, signal));
  let head: SnapshotHead | undefined;
  await pipeline(
    source,
    createZstdDecompress(),
    async (chunks: AsyncIterable<Buffer>) => {
      head = await stage(staging, chunks, take);
    },
    { signal },
  );
  if (head === undefined) throw new MessageError('an empty snapshot');
  staging.commit(continues === undefined ? head : { ...head, continues }, now);
  return head;
}

function pathFrom(at: FeedPosition | undefined): string {
  return at === undefined ? SNAPSHOT_PATH : `${SNAPSHOT_PATH}?${formatPositionQuery(at)}`;
}

async function stage(
  staging: SnapshotStaging,
  chunks: AsyncIterable<Buffer>,
  take: (changes: readonly ResourceChange[]) => Promise<readonly StoreChange[]>,
): Promise<SnapshotHead | undefined> {
  const hash = createHash('sha256');
  let head: SnapshotHead | undefined;
  let count = 0;
  for await (const lines of splitLines(chunks, MAX_LINE_CHARS)) {
    const changes: ResourceChange[] = [];
    for (const line of lines) {
      if (head === undefined) {
        head = parseSnapshotHead(line);
        continue;
      }
      hash.update(`${line}\n`);
      count += 1;
      changes.push(parseChange(line));
    }
    for (const change of await take(changes)) {
      if (change.kind === 'delete') throw new MessageError('a snapshot holds only what exists');
      staging.add(change);
    }
  }
  if (head === undefined) return undefined;
  if (count !== head.count) throw new MessageError(`a snapshot of ${head.count} resources came with ${count}`);
  if (hash.digest('hex') !== head.hash) throw new MessageError('a snapshot whose hash is not as promised');
  return head;
}
