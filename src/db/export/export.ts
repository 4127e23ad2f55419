/**
 * Exports the database to a file of lines and creates a new database from one: for backups, and to change engines.
 * docs/decisions/0260
 */
import { lazy } from '#lib/lazy.ts';
import { migrate, migrateTo, newestStep, readStep } from '../migrations/migrations.ts';
import { type DatabaseOptions, nameDatabase, openEngine } from '../open.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type ImportSummary, putIn } from './put-in.ts';
import type { OpenExport } from './read.ts';
import { type ExportOptions, type ExportSummary, writeExport } from './write.ts';

/** Exports the database, read only, also while a service runs. Throws if the database is not of this release. */
export async function exportDatabase(
  database: DatabaseOptions,
  options: Omit<ExportOptions, 'step'>,
): Promise<ExportSummary> {
  await using engine = await openEngine(database);
  const step = await readStep(engine.query);
  if (step !== newestStep())
    throw new Error(
      `the database is at ${step ?? 'its beginning'}, and this release at ${newestStep()}: export it with the release that ran on it last`,
    );
  return await engine.snapshot((x) => writeExport(x, { ...options, step }));
}

/**
 * Imports into a new or unused database; `loadRing` is called at the first sealed secret and may throw. migrates an export of an earlier release. If it fails or is killed, the
 * database is as unused as before. Throws with a message for users.
 */
export async function importDatabase(
  database: DatabaseOptions,
  source: OpenExport,
  loadRing: () => Keyring,
): Promise<ImportSummary> {
  await using engine = await openEngine(database);
  try {
    await migrateTo(engine.query, engine.words, source.head.step);
    // No retry, since `source` can be read only once.
    const ring = lazy(loadRing);
    const hasKey = (id: string) => ring().find(id) !== undefined;
    const summary = await engine.query.transaction().execute((trx) => putIn(trx, source, hasKey));
    await migrate(engine.query, engine.words);
    return summary;
  } catch (error) {
    throw nameDatabase(database, error);
  }
}
