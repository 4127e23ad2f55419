import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { type EdgeStore, openEdgeStore, openSiteReader } from './edge-store.ts';

const FIRST = { epoch: 'e', revision: 1, tag: 't1' };
const SECOND = { epoch: 'e', revision: 2, tag: 't2' };

const notMoved = () => assert.fail('a good file was moved aside');

function fill(store: EdgeStore): void {
  using staging = store.stageSnapshot();
  staging.add({ kind: 'put', resource: 'site', key: 'a.example.com', revision: 1, body: '{"id":1}' });
  staging.commit({ ...FIRST, continues: false }, 1000);
}

test('a new store is empty, for its user only, and refuses a delta before a snapshot', (t) => {
  const file = join(temporaryFolder(t), 'sites.db');
  using store = openEdgeStore(file, notMoved);
  assert.deepEqual([store.head(), store.countSites(), store.getSpec('a.example.com')], [undefined, 0, undefined]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.throws(() => store.applyDelta(FIRST, [], 1000), /before the first snapshot/);
});

test('a delta that fails half-way leaves the store as it was', (t) => {
  using store = openEdgeStore(join(temporaryFolder(t), 'sites.db'), notMoved);
  fill(store);
  const good = { kind: 'put', resource: 'site', key: 'b.example.com', revision: 2, body: '{}' } as const;
  // `as`: what the types forbid is what fails in the middle here.
  assert.throws(() => store.applyDelta(SECOND, [good, { ...good, key: null as unknown as string }], 1000));
  assert.deepEqual([store.head(), store.countSites()], [FIRST, 1]);
  store.applyDelta(SECOND, [good], 1000);
  assert.deepEqual([store.head(), store.countSites()], [SECOND, 2]);
});

test('a snapshot that is not committed changes nothing and leaves nothing', (t) => {
  using store = openEdgeStore(join(temporaryFolder(t), 'sites.db'), notMoved);
  fill(store);
  {
    using staging = store.stageSnapshot();
    staging.add({ kind: 'put', resource: 'site', key: 'b.example.com', revision: 2, body: '{}' });
  }
  assert.deepEqual([store.head()?.revision, store.countSites()], [1, 1]);
  fill(store);
  assert.equal(store.countSites(), 1);
});

const SPOILT: readonly (readonly [string, (file: string) => void])[] = [
  ['another database', (file) => new DatabaseSync(file).exec('create table mine (x); insert into mine values (1)')],
  ['a text', (file) => writeFileSync(file, 'mine, not yours '.repeat(1000))],
  ['a file with a hole', (file) => writeFileSync(file, readFileSync(file).fill(0xaa, 4096))],
  ['a file cut short', (file) => writeFileSync(file, readFileSync(file).subarray(0, 5000))],
  ['a layout without its tables', (file) => new DatabaseSync(file).exec('drop table rejection')],
];

for (const [name, spoil] of SPOILT) {
  test(`${name} is moved aside, and the edge comes up empty`, (t) => {
    const file = join(temporaryFolder(t), 'sites.db');
    if (!name.startsWith('another') && !name.startsWith('a text')) {
      using store = openEdgeStore(file, notMoved);
      fill(store);
    }
    spoil(file);
    const spoilt = readFileSync(file);
    let movedTo: string | undefined;
    using store = openEdgeStore(file, (to) => {
      movedTo = to;
    });
    assert.equal(movedTo, `${file}.damaged`);
    assert.deepEqual(readFileSync(`${file}.damaged`), spoilt);
    assert.equal(store.head(), undefined);
    fill(store);
    assert.equal(store.countSites(), 1);
  });
}

test('a reader finds nothing without a file, then what the writer wrote, and follows to a new file', (t) => {
  const file = join(temporaryFolder(t), 'sites.db');
  using reader = openSiteReader(file);
  assert.deepEqual([reader.getSpec('a.example.com'), reader.head()], [undefined, undefined]);
  {
    using store = openEdgeStore(file, notMoved);
    assert.equal(reader.getSpec('a.example.com'), undefined);
    fill(store);
    assert.deepEqual(reader.getSpec('a.example.com'), { spec: { id: 1 }, revision: 1 });
    store.applyDelta(SECOND, [{ kind: 'delete', resource: 'site', key: 'a.example.com', revision: 2 }], 1000);
    assert.deepEqual([reader.getSpec('a.example.com'), reader.head()?.revision], [undefined, 2]);
  }
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  using store = openEdgeStore(file, notMoved);
  assert.equal(reader.head(), undefined);
  fill(store);
  assert.equal(reader.getSpec('a.example.com')?.revision, 1);
});

test('a reader reads when no writer is there', (t) => {
  const file = join(temporaryFolder(t), 'sites.db');
  {
    using store = openEdgeStore(file, notMoved);
    fill(store);
  }
  using reader = openSiteReader(file);
  assert.equal(reader.getSpec('a.example.com')?.revision, 1);
});
