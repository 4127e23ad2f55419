/** The two database engines as targets for a suite: each target is new and empty, and removed when the test ends. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import pg from 'pg';
import { needsPostgres, postgresUrl } from './needs.ts';
import { temporaryFolder } from './temporary.ts';

export interface DatabaseTarget {
  /** Path of the SQLite file; used when `url` is absent. */
  readonly file: string;
  readonly url?: string;
}

/** Gives a new, empty database, removed after the test. */
export type NewDatabase = (t: Pick<TestContext, 'after'>) => Promise<DatabaseTarget>;

/** Declares the same suite once per engine; without a PostgreSQL server that half is skipped by name. */
export function describeOnBothEngines(name: string, suite: (newDatabase: NewDatabase) => void): void {
  describe(`${name} (SQLite)`, () => suite(newSqlite));
  describe(`${name} (PostgreSQL)`, needsPostgres(), () => suite(newPostgres));
}

export async function newSqlite(t: Pick<TestContext, 'after'>): Promise<DatabaseTarget> {
  return { file: join(temporaryFolder(t), 'causeway.db') };
}

/** `clauses` end `create database`; without them it is UTF-8, whatever the server was set up with. */
export async function newPostgres(
  t: Pick<TestContext, 'after'>,
  clauses = "encoding 'UTF8' template template0 locale 'C'",
): Promise<DatabaseTarget> {
  const server = postgresUrl();
  if (server === undefined) throw new Error('declare the test with needsPostgres()');
  const name = `causeway_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name} ${clauses}`);
  t.after(() => administer(server, `drop database if exists ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, file: '' };
}

/** On a connection of its own. */
export async function administer(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
