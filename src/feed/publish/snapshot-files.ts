/**
 * Snapshots as files, one for each view, which many edges read: `<group>-<revision>-<random>.ndjson.zst`. Two zstd
 * frames: the head, and the lines that it counts. docs/decisions/0593
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, zstdCompressSync } from 'node:zlib';
import type { Db } from '#db/open.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import type { Clock } from '#lib/clock.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import type { SnapshotHead } from '../wire/protocol.ts';
import type { UnsealBody } from './open-secrets.ts';
import { withViewSnapshot } from './snapshot.ts';
import type { ViewSealer } from './view-sealer.ts';
import { readViews } from './views.ts';

/** A file that is older or further behind is made again for the next edge that needs one. */
const MAX_AGE_MS = 60_000;
const MAX_BEHIND = 1000;
/** Files kept for each group: the newest, and one that edges are still reading. */
const KEPT = 2;
const LEVEL = 3;

export interface SnapshotFile {
  readonly group: string;
  /** Id of the view. */
  readonly view: string;
  readonly at: FeedPosition;
  readonly path: string;
  readonly sizeBytes: number;
  /** Id of the view key of its secrets; absent if control cannot open secrets. */
  readonly vk: string | undefined;
  /** Quoted, as in the header. */
  readonly etag: string;
  readonly madeAt: number;
}

export interface SnapshotFiles {
  /**
   * Returns a recent file of the group's view; concurrent callers share the making of one. `atLeast`: a revision of this
   * history that the caller has, since an earlier file would take purges away that are in force.
   */
  get(group: string, atLeast: number): Promise<SnapshotFile>;
  /** Returns the kept file with this tag; `undefined` if there is none. */
  find(group: string, etag: string): SnapshotFile | undefined;
  /** Deletes the files of a group, or of all, so that the next edge gets a new one. */
  discard(group?: string): Promise<void>;
}

export interface SnapshotFilesOptions {
  readonly db: Db;
  readonly directory: string;
  readonly sealer: ViewSealer;
  readonly clock: Clock;
}

/** Deletes the files of an earlier process. */
export async function openSnapshotFiles(options: SnapshotFilesOptions): Promise<SnapshotFiles> {
  const { db, directory, clock } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory)) await rm(join(directory, name), { force: true });
  const kept = new Map<string, SnapshotFile[]>();
  const making = new Map<string, Promise<SnapshotFile>>();

  const isRecent = async (file: SnapshotFile): Promise<boolean> => {
    if (Math.abs(clock() - file.madeAt) > MAX_AGE_MS) return false;
    const [head, views] = [await readConfigHead(db.query), await readViews(db.query)];
    const behind = head.revision - file.at.revision;
    const isOfHistory = head.epoch === file.at.epoch && behind >= 0 && file.at.revision >= head.minRevision;
    if (!isOfHistory || behind > MAX_BEHIND || views(file.group).id !== file.view) return false;
    return await options.sealer.isInUse(file.group, file.vk); // an edge that was revoked may have the key
  };
  const make = async (group: string): Promise<SnapshotFile> => {
    let file = await writeSnapshot(options, group);
    // Its key ended while it was written: it may hold secrets that are newer than that.
    while (!(await options.sealer.isInUse(group, file.vk))) {
      await rm(file.path, { force: true });
      file = await writeSnapshot(options, group);
    }
    const files = [file, ...(kept.get(group) ?? [])];
    kept.set(group, files.slice(0, KEPT));
    // Edges that are still reading a file keep it open.
    for (const old of files.slice(KEPT)) await rm(old.path, { force: true });
    return file;
  };
  return {
    async get(group, atLeast) {
      const [newest] = kept.get(group) ?? [];
      if (newest !== undefined && newest.at.revision >= atLeast && (await isRecent(newest))) return newest;
      const running = making.get(group) ?? make(group).finally(() => making.delete(group));
      making.set(group, running);
      const made = await running;
      return made.at.revision >= atLeast ? made : await make(group); // it was begun before that revision
    },
    find: (group, etag) => kept.get(group)?.find((file) => file.etag === etag),
    async discard(group) {
      const gone = group === undefined ? [...kept.keys()] : [group];
      for (const name of gone) {
        const files = kept.get(name) ?? [];
        kept.delete(name);
        for (const { path } of files) await rm(path, { force: true });
      }
    },
  };
}

async function writeSnapshot(options: SnapshotFilesOptions, group: string): Promise<SnapshotFile> {
  const { db, directory, sealer, clock } = options;
  const name = randomBytes(8).toString('hex');
  const body = join(directory, `${name}.lines`);
  try {
    const { format, key } = await sealer.bodiesFor(group);
    const { head, ...of } = await writeLines(db, group, format, body);
    const path = join(directory, `${group}-${head.revision}-${name}.ndjson.zst`);
    await joinFrames(path, head, body);
    const { size } = await stat(path);
    return { ...of, group, path, sizeBytes: size, vk: key?.id, etag: `"${name}"`, madeAt: clock() };
  } finally {
    await rm(body, { force: true });
  }
}

async function writeLines(db: Db, group: string, formatBody: UnsealBody, file: string) {
  return await withViewSnapshot(db, group, formatBody, async ({ view, at, pages }) => {
    const hash = createHash('sha256');
    let count = 0;
    const counted = async function* () {
      for await (const { text, lines } of pages) {
        hash.update(text);
        count += lines;
        yield text;
      }
    };
    const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
    await pipeline(counted, compress, createWriteStream(file, { mode: 0o600 }));
    // Whether it continues an edge's history is sent to each edge in a header.
    const head: SnapshotHead = { ...at, view: view.id, continues: false, count, hash: hash.digest('hex') };
    return { head, view: view.id, at };
  });
}

async function joinFrames(path: string, head: SnapshotHead, body: string): Promise<void> {
  await writeFile(path, zstdCompressSync(`${JSON.stringify(head)}\n`), { flag: 'wx', mode: 0o600 });
  await pipeline(createReadStream(body), createWriteStream(path, { flags: 'a' }));
}
