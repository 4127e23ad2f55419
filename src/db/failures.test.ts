import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import pg from 'pg';
import { isDatabaseAway, isWorthAnotherTry } from './failures.ts';

function ofPostgres(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError('no', 2, 'error');
  error.code = code;
  return error;
}

function ofSqlite(statement: string): unknown {
  using database = new DatabaseSync(':memory:');
  database.exec('create table t (x integer check (x > 0)) strict; pragma max_page_count = 1');
  try {
    database.exec(statement);
  } catch (error) {
    return error;
  }
  return assert.fail('it went well');
}

const ROWS: readonly (readonly [what: string, error: unknown, isAway: boolean])[] = [
  ['no connection', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), true],
  ['no connection to any address', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), true],
  ['a lost connection', new Error('Connection terminated unexpectedly'), true],
  ['no connection in time', new Error('timeout exceeded when trying to connect'), true],
  ['no answer in time', new Error('Query read timeout'), true],
  ['a full disk', ofPostgres('53100'), true],
  ['too many connections', ofPostgres('53300'), true],
  ['a server that stops', ofPostgres('57P01'), true],
  ['a server that starts', ofPostgres('57P03'), true],
  ['a password that was changed', ofPostgres('28P01'), true],
  ['a database that is not there', ofPostgres('3D000'), true],
  ['a statement that took too long', ofPostgres('57014'), true],
  ['a server that only reads', ofPostgres('25006'), true],
  ['a unique key', ofPostgres('23505'), false],
  ['a syntax error', ofPostgres('42601'), false],
  ['a full SQLite', ofSqlite('create table u (x)'), true],
  ['a SQLite that only reads', ofSqlite('pragma query_only = 1; insert into t values (1)'), true],
  ['a check', ofSqlite('insert into t values (0)'), false],
  ['a wrong type', ofSqlite("insert into t values ('x')"), false],
  ['a mistake of ours', new TypeError('x is not a function'), false],
  ['something else', 'ECONNREFUSED', false],
];

test('a database that is away, full or read-only is told apart from faults of ours', () => {
  for (const [what, error, isAway] of ROWS) assert.equal(isDatabaseAway(error), isAway, what);
});

test('serialization failures and deadlocks are retried', () => {
  assert.deepEqual(['40001', '40P01', '23505'].map(ofPostgres).map(isWorthAnotherTry), [true, true, false]);
});
