/** Reads a snapshot: stages it line by line, and commits it only if count and hash match. */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Clock } from '#lib/clock.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import { acceptPut } from './accept.ts';
import type { ControlLink } from './control-link.ts';
import type { SnapshotStaging } from './edge-staging.ts';
import type { EdgeStore } from './edge-store.ts';
import { requestFeed } from './feed-request.ts';
import { splitLines } from './lines.ts';
import { MessageError, parseChange, parseSnapshotHead } from './messages.ts';
import { formatPositionQuery } from './position-query.ts';
import { SILENCE_MS, SNAPSHOT_PATH, type SnapshotHead } from './protocol.ts';

/** Limit of a resource, far above what control accepts. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;

/** Resolves when the store has the snapshot; rejects without any change if it is incomplete. */
export async function takeSnapshot(
  store: EdgeStore,
  { link, clock, signal }: { readonly link: ControlLink; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<SnapshotHead> {
  using staging = store.stageSnapshot();
  const path = pathFrom(store.head());
  const response = await requestFeed({ link, path, signal, silenceMs: SILENCE_MS });
  let head: SnapshotHead | undefined;
  await pipeline(
    response,
    createZstdDecompress(),
    async (chunks: AsyncIterable<Buffer>) => {
      head = await stage(staging, chunks);
    },
    { signal },
  );
  if (head === undefined) throw new MessageError('an empty snapshot');
  staging.commit(head, clock());
  return head;
}

function pathFrom(at: FeedPosition | undefined): string {
  return at === undefined ? SNAPSHOT_PATH : `${SNAPSHOT_PATH}?${formatPositionQuery(at)}`;
}

async function stage(staging: SnapshotStaging, chunks: AsyncIterable<Buffer>): Promise<SnapshotHead | undefined> {
  const hash = createHash('sha256');
  let head: SnapshotHead | undefined;
  let count = 0;
  for await (const lines of splitLines(chunks, MAX_LINE_CHARS)) {
    for (const line of lines) {
      if (head === undefined) {
        head = parseSnapshotHead(line);
        continue;
      }
      hash.update(`${line}\n`);
      count += 1;
      const change = parseChange(line);
      if (change.op !== 'put') throw new MessageError('a snapshot holds only what exists');
      staging.add(acceptPut(change));
    }
  }
  if (head === undefined) return undefined;
  if (count !== head.count) throw new MessageError(`a snapshot of ${head.count} resources came with ${count}`);
  if (hash.digest('hex') !== head.hash) throw new MessageError('a snapshot whose hash is not as promised');
  return head;
}
