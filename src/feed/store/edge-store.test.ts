import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/support/temporary.ts';
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

test('a file that temporarily cannot be opened stays in its place, and is named', (t) => {
  const file = join(temporaryFolder(t), 'sites.db');
  {
    using store = openEdgeStore(file, notMoved);
    fill(store);
  }
  mkdirSync(`${file}-wal`); // a WAL that cannot be opened, as on a full disk
  assert.throws(() => openEdgeStore(file, notMoved), { message: new RegExp(`^${file}: `) });
  rmdirSync(`${file}-wal`);
  using store = openEdgeStore(file, notMoved);
  assert.equal(store.countSites(), 1);
});

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
  assert.equal(reader.head()?.revision, 2, 'the set before is better than none');
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

/** What happens to the file while it is open, and the revision that the store has after `repair`; absent: nothing to repair. */
const HARM: readonly (readonly [string, (file: string) => void, { readonly revision: number | undefined }?])[] = [
  ['nothing', () => undefined],
  ['a touch', (file) => utimesSync(file, 1, 1)],
  ['a reader', (file) => openSiteReader(file)[Symbol.dispose]()],
  ['a removal with its WAL', (file) => removeAll(file), { revision: undefined }],
  ['a removal without its WAL', (file) => rmSync(file), { revision: undefined }],
  ['a removal with its folder', (file) => rmSync(dirname(file), { recursive: true }), { revision: undefined }],
  ['a removal of its WAL', (file) => rmSync(`${file}-wal`), { revision: 2 }],
  ['noise all over it', (file) => writeFileSync(file, 'noise '.repeat(9000)), { revision: undefined }],
  ['noise all over its WAL', (file) => writeFileSync(`${file}-wal`, 'noise '.repeat(9000)), { revision: undefined }],
  ['noise all over its files', (file) => spoilAll(file), { revision: undefined }],
  ['noise in a body', (file) => spoilBody(file), { revision: undefined }],
  [
    'an end in the middle',
    (file) => writeFileSync(file, readFileSync(file).subarray(0, 5000)),
    { revision: undefined },
  ],
  ['an older copy', (file) => putBackCopy(file), { revision: 1 }],
];

test("control's orders for an edge survive a restart of the edge", (t) => {
  const file = join(temporaryFolder(t), 'edge', 'sites.db');
  {
    using store = openEdgeStore(file, notMoved);
    fill(store);
    const put = { kind: 'put', resource: 'edge', key: 'fra1', revision: 2, body: '{"isDraining":true}' } as const;
    store.applyDelta(SECOND, [put], 1000);
  }
  using store = openEdgeStore(file, notMoved);
  assert.deepEqual([store.ordersOf('fra1'), store.ordersOf('par1')], [{ isDraining: true }, undefined]);
});

for (const [name, harm, lost] of HARM) {
  test(`a store that meets ${name} while it is open ${lost ? 'begins anew' : 'goes on'}`, (t) => {
    const file = join(temporaryFolder(t), 'edge', 'sites.db');
    {
      using store = openEdgeStore(file, notMoved);
      fill(store);
    } // closed once, so that all of it is in the file and nothing in the WAL
    copyFileSync(file, `${file}.copy`);
    using store = openEdgeStore(file, () => undefined);
    assert.equal(store.repair(), false);
    store.applyDelta(SECOND, [], 1000);
    using staging = store.stageSnapshot();
    staging.add({ kind: 'put', resource: 'site', key: 'a.example.com', revision: 1, body: '{"id":1}' });
    staging.commit({ ...SECOND, continues: true }, 1000);
    assert.equal(store.repair(), false, 'its own writes are no harm');
    harm(file);
    assert.equal(store.repair(), lost !== undefined);
    assert.equal(store.repair(), false);
    assert.equal(store.head()?.revision, lost === undefined ? 2 : lost.revision);
    fill(store);
    using reader = openSiteReader(file);
    assert.equal(reader.getSpec('a.example.com')?.revision, 1);
  });
}

function removeAll(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}

function spoilAll(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) writeFileSync(file + suffix, 'noise '.repeat(9000));
}

function spoilBody(file: string): void {
  // What is in the WAL too would not be read from here.
  new DatabaseSync(file).exec('pragma wal_checkpoint(truncate)');
  const bytes = readFileSync(file);
  const body = bytes.indexOf('{"id":1}');
  bytes.fill('x', body, body + 8);
  writeFileSync(file, bytes);
}

function putBackCopy(file: string): void {
  removeAll(file);
  copyFileSync(`${file}.copy`, file);
}
