/** Resources whose bodies are sealed in an edge's file with its own key: certificates, live keys and sinks. */
import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '#lib/sqlite-file.ts';
import { SINK_KIND } from '#model/line-sink.ts';
import { LIVE_KEYS_KIND } from '#model/live-stream.ts';
import type { StoreChange } from './edge-file.ts';
import type { EdgeKey } from './edge-key.ts';

/** Kinds that are sealed in the file. */
const SEALED_KINDS: readonly string[] = ['certificate', LIVE_KEYS_KIND, SINK_KIND];

/**
 * Deletes secrets that the edge's key does not open. Without them the file lacks part of its
 * revision, so its position is deleted, too, and a snapshot is fetched. The rest serves meanwhile.
 */
export function forgetUnopened(database: DatabaseSync, edgeKey: EdgeKey): boolean {
  const unopened = SEALED_KINDS.flatMap((kind) =>
    database
      .prepare('select kind, key, body from resource where kind = ?')
      .all(kind)
      .filter((row) => edgeKey.open(sealedName(kind, String(row['key'])), String(row['body'])) === undefined),
  );
  if (unopened.length === 0) return false;
  const forget = database.prepare('delete from resource where kind = ? and key = ?');
  inTransaction(database, () => {
    for (const { kind, key } of unopened) forget.run(String(kind), String(key));
    database.exec('delete from head');
  });
  return true;
}

export function closeSecret<C extends StoreChange>(change: C, edgeKey: EdgeKey): C {
  if (change.kind !== 'put' || !SEALED_KINDS.includes(change.resource)) return change;
  return { ...change, body: edgeKey.close(sealedName(change.resource, change.key), change.body) };
}

/** Returns the name that a body is sealed under: it opens under no other. Keys of certificates have no slash. */
export function sealedName(kind: string, key: string): string {
  return kind === 'certificate' ? key : `${kind}/${key}`;
}
