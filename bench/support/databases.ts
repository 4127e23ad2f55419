/** Both engines as targets: SQLite in a folder of the run, PostgreSQL where CAUSEWAY_TEST_POSTGRES names a server. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';

export interface Target extends AsyncDisposable {
  readonly engine: 'SQLite' | 'PostgreSQL';
  readonly file: string;
  readonly url?: string;
}

export async function databaseTargets(folder: string): Promise<Target[]> {
  const sqlite: Target = { engine: 'SQLite', file: join(folder, 'causeway.db'), async [Symbol.asyncDispose]() {} };
  const server = process.env['CAUSEWAY_TEST_POSTGRES'];
  return server === undefined ? [sqlite] : [sqlite, await newPostgres(server)];
}

async function newPostgres(server: string): Promise<Target> {
  const name = `causeway_bench_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name} encoding 'UTF8' template template0 locale 'C'`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    engine: 'PostgreSQL',
    file: '',
    url: url.href,
    [Symbol.asyncDispose]: () => administer(server, `drop database if exists ${name} with (force)`),
  };
}

async function administer(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(sql);
  await client.end();
}
