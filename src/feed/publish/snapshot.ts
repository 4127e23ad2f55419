/** Writes a snapshot: one consistent state of the database, line by line, without holding all of it in memory. */
import { createHash } from 'node:crypto';
import type { Db } from '#db/open.ts';
import type { Executor } from '#db/schema/schema.ts';
import { allResources, type ResourceRow, readConfigHead } from '#db/tables/resources.ts';
import { isInHistory } from '#db/tables/revision-tags.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import type { SnapshotHead } from '../wire/protocol.ts';
import type { UnsealBody } from './open-secrets.ts';
import { readViews, readVisibility, type View } from './views.ts';

const PAGE_ROWS = 500;

/**
 * Calls `send` with the snapshot's text in pieces; the state is held until `send` settles. It is read twice, because
 * the head comes first and has the count and hash of the rest. `from`: position of the edge, if it has one.
 */
export function withSnapshot(
  db: Db,
  from: FeedPosition | undefined,
  openBody: UnsealBody,
  send: (pieces: AsyncIterable<string>) => Promise<void>,
): Promise<void> {
  return db.snapshot(async (x) => {
    const head = await readSnapshotHead(x, from, openBody);
    await send(pieces(x, head, openBody));
  });
}

/** The resources of a view in one consistent state of the database. */
export interface ViewSnapshot {
  readonly view: View;
  readonly at: FeedPosition;
  /** Lines with their LF, and their number; it can be read once. */
  readonly pages: AsyncIterable<{ readonly text: string; readonly lines: number }>;
}

/** Like `withSnapshot`, for the view of a group: without a head, whose count and hash the reader finds out. */
export function withViewSnapshot<T>(
  db: Db,
  group: string,
  openBody: UnsealBody,
  read: (snapshot: ViewSnapshot) => Promise<T>,
): Promise<T> {
  return db.snapshot(async (x) => {
    const { epoch, revision, tag } = await readConfigHead(x);
    const view = (await readViews(x))(group);
    return await read({ view, at: { epoch, revision, tag }, pages: pagesOf(x, group, openBody) });
  });
}

async function* pagesOf(x: Executor, group: string, openBody: UnsealBody) {
  for await (const rows of allResources(x, PAGE_ROWS)) {
    const see = await readVisibility(x, rows);
    const seen = rows.filter((row) => see(row, group) === 'whole');
    yield { text: formatPage(seen, openBody), lines: seen.length };
  }
}

async function* pieces(x: Executor, head: SnapshotHead, openBody: UnsealBody): AsyncGenerator<string> {
  yield `${JSON.stringify(head)}\n`;
  for await (const rows of allResources(x, PAGE_ROWS)) yield formatPage(rows, openBody);
}

async function readSnapshotHead(
  x: Executor,
  from: FeedPosition | undefined,
  openBody: UnsealBody,
): Promise<SnapshotHead> {
  const { epoch, revision, tag } = await readConfigHead(x);
  const continues = from !== undefined && (await isInHistory(x, from));
  const hash = createHash('sha256');
  let count = 0;
  for await (const rows of allResources(x, PAGE_ROWS)) {
    hash.update(formatPage(rows, openBody));
    count += rows.length;
  }
  return { epoch, revision, tag, continues, count, hash: hash.digest('hex') };
}

function formatPage(rows: readonly ResourceRow[], openBody: UnsealBody): string {
  return rows.map((row) => `${formatChange(row, openBody)}\n`).join('');
}

/** Formats a `ResourceChange`. The body is JSON text already; only sealed ones are parsed. */
export function formatChange(row: ResourceRow, openBody: UnsealBody): string {
  const { kind, key, revision, isDeleted } = row;
  const what = `{"kind":${JSON.stringify(kind)},"key":${JSON.stringify(key)},"revision":${revision}`;
  return isDeleted ? `${what},"op":"delete"}` : `${what},"op":"put","body":${openBody(row)}}`;
}
