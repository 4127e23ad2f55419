/** The two database engines as targets for a suite: each target is new, and removed when the test ends. */
import { randomBytes } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import pg from 'pg';
import { openDatabase } from '#db/open.ts';
import { createLogger } from '#lib/logger.ts';
import { needs, obtain } from '../runner/needs.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';
import { POSTGRES_TEMPLATE, sqliteTemplate } from './templates.ts';

export interface DatabaseTarget {
  /** Path of the SQLite file; used when `url` is absent. */
  readonly file: string;
  readonly url?: string;
}

/** Gives a new database, removed after the test. */
export type NewDatabase = (t: Cleanup) => Promise<DatabaseTarget>;

interface Makers {
  readonly sqlite: NewDatabase;
  readonly postgres: NewDatabase;
}

/** Declares the same suite once per engine; without a PostgreSQL server that half is skipped by name. `make`: absent, databases are up to date. */
export function describeOnBothEngines(
  name: string,
  suite: (newDatabase: NewDatabase, engine: keyof Makers) => void,
  make = UP_TO_DATE,
): void {
  describe(`${name} (SQLite)`, () => suite(make.sqlite, 'sqlite'));
  describe(`${name} (PostgreSQL)`, needs('postgres'), () => suite(make.postgres, 'postgres'));
}

const UP_TO_DATE: Makers = { sqlite: newSqlite, postgres: newPostgres };
export const EMPTY: Makers = { sqlite: emptySqlite, postgres: emptyPostgres };

/** Bringing one up to date takes many times as long as copying it: a run does it once for an engine, or each process does. */
const upToDate: { sqlite?: Promise<string>; postgres?: Promise<string> } = {};
/** Removes databases when the process ends. */
const AT_EXIT: Cleanup = { after: (remove) => process.once('beforeExit', remove) };

/** Returns a database that is up to date and has no rows but those of the migrations. */
export async function newSqlite(t: Cleanup): Promise<DatabaseTarget> {
  upToDate.sqlite ??= sqliteTemplate(async () => (await bringUpToDate(emptySqlite, AT_EXIT)).file);
  const [target, template] = [await emptySqlite(t), await upToDate.sqlite];
  copyFileSync(template, target.file);
  return target;
}

/** Returns a database that is up to date and has no rows but those of the migrations. */
export async function newPostgres(t: Cleanup): Promise<DatabaseTarget> {
  const shared = process.env[POSTGRES_TEMPLATE];
  upToDate.postgres ??= shared === undefined ? makePostgresTemplate(AT_EXIT) : Promise.resolve(shared);
  // Copying files instead of writing pages to the log halves the cost of making and dropping one.
  return await emptyPostgres(t, `template ${await upToDate.postgres} strategy file_copy`);
}

/** Makes a database that is up to date, and returns its name. */
export async function makePostgresTemplate(t: Cleanup): Promise<string> {
  const { url = '' } = await bringUpToDate(emptyPostgres, t);
  return new URL(url).pathname.slice(1);
}

async function bringUpToDate(newDatabase: NewDatabase, t: Cleanup): Promise<DatabaseTarget> {
  const target = await newDatabase(t);
  const db = await openDatabase({ ...target, log: createLogger({ level: 'warn', name: 'test' }) });
  await db[Symbol.asyncDispose]();
  return target;
}

/** Returns a database without tables. */
export async function emptySqlite(t: Cleanup): Promise<DatabaseTarget> {
  return { file: join(temporaryFolder(t), 'causeway.db') };
}

/**
 * Returns a database without tables, unless `clauses` say otherwise, which end `create database`; without them it is UTF-8,
 * whatever the server was set up with.
 */
export async function emptyPostgres(
  t: Cleanup,
  clauses = "encoding 'UTF8' template template0 locale 'C'",
): Promise<DatabaseTarget> {
  const server = obtain('postgres');
  const name = `causeway_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name} ${clauses}`);
  t.after(() => administer(server, `drop database if exists ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, file: '' };
}

/** Runs a statement on a connection of its own. */
export async function administer(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
