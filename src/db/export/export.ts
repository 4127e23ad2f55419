/**
 * The database as a file of lines, and a new database from one: a backup, and the way from one engine to the other.
 * docs/decisions/0260
 */
import { migrate, migrateTo, newestStep, readStep } from '../migrations/migrations.ts';
import { type DatabaseOptions, nameDatabase, openEngine } from '../open.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type ImportSummary, putIn } from './put-in.ts';
import type { OpenExport } from './read.ts';
import { type ExportOptions, type ExportSummary, writeExport } from './write.ts';

/** Reads only, also while a service runs. Throws when the database is not of this release. */
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
 * Imports into a database that is new or was never used; migrates an export of an earlier release. If it fails or is
 * killed, the database is as unused as before. Throws with a message for people.
 */
export async function importDatabase(
  database: DatabaseOptions,
  source: OpenExport,
  loadRing: () => Keyring,
): Promise<ImportSummary> {
  await using engine = await openEngine(database);
  try {
    await migrateTo(engine.query, engine.words, source.head.step);
    // One try: `source` can be read once.
    const summary = await engine.query.transaction().execute((trx) => putIn(trx, source, loadRing));
    await migrate(engine.query, engine.words);
    return summary;
  } catch (error) {
    throw nameDatabase(database, error);
  }
}
