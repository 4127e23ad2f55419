import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { edgeKeyPath } from '../store/edge-key.ts';
import { openEdgeStore, openSiteReader } from '../store/edge-store.ts';
import { acceptPut } from './accept.ts';

const PRIMARY = 'primary0primary0primary0';
const SECONDARY = 'secondary0secondary0';
const MARK = { forbidden: true, until: 0, kicked: '' };
const KEYS = { publish: [PRIMARY, SECONDARY], play: [] };
const PLACE = { epoch: 'e', revision: 1, tag: 't', continues: true };

function put(kind: string, key: string, body: unknown) {
  return acceptPut({ kind, key, revision: 1, op: 'put', body });
}

test('a live process reads marks and keys from the edge’s own file, where the keys lie sealed', (t) => {
  const file = join(temporaryFolder(t), 'sites.db');
  using reader = openSiteReader(file);
  assert.deepEqual(
    [reader.getLiveMark(7, 'live', 'a'), reader.listLiveMarks(), reader.getLiveKeys(7)],
    [undefined, [], undefined],
  );
  using store = openEdgeStore(file, () => assert.fail('nothing is damaged'));
  {
    using staging = store.stageSnapshot();
    staging.add(put('live_mark', '7/live/a', MARK));
    staging.add(put('live_keys', '7', KEYS));
    staging.commit(PLACE, 1);
  }
  assert.deepEqual(reader.getLiveMark(7, 'live', 'a'), MARK);
  assert.equal(reader.getLiveMark(7, 'live', 'b'), undefined);
  assert.deepEqual(reader.listLiveMarks(), [{ domainId: 7, app: 'live', stream: 'a', ...MARK }]);
  assert.deepEqual(reader.getLiveKeys(7), KEYS);
  const bytes = ['', '-wal'].map((end) => readFileSync(file + end, 'latin1')).join('');
  assert.ok(!bytes.includes(PRIMARY) && !bytes.includes(SECONDARY));

  store.applyDelta(
    { revision: 2, tag: 't2' },
    [{ kind: 'delete', resource: 'live_mark', key: '7/live/a', revision: 2 }],
    1,
  );
  assert.deepEqual([reader.getLiveMark(7, 'live', 'a'), reader.listLiveMarks()], [undefined, []]);

  writeFileSync(edgeKeyPath(file), 'spoilt');
  assert.equal(store.repair(), true);
  assert.deepEqual([store.head(), reader.getLiveKeys(7)], [undefined, undefined], 'a snapshot is taken');
});

const REFUSED = [
  ['live_mark', '7/live', MARK, /key: expected domain id/],
  ['live_mark', '7/live/a', { ...MARK, forbidden: 1 }, /^forbidden: /],
  ['live_mark', '7/live/a', { ...MARK, until: -1 }, /^until: /],
  ['live_mark', '7/live/a', { ...MARK, kicked: 'A b' }, /^kicked: /],
  ['live_keys', 'a', KEYS, /key: expected a domain id/],
  ['live_keys', '7', { ...KEYS, publish: [PRIMARY, SECONDARY, PRIMARY] }, /at most 2 keys/],
  ['live_keys', '7', { ...KEYS, play: ['short'] }, /at most 2 keys/],
  ['live_keys', '7', { problem: 'it does not open' }, /^it does not open$/],
] as const;

for (const [kind, key, body, error] of REFUSED) {
  test(`an edge refuses ${kind} ${key} ${JSON.stringify(body).slice(0, 60)}, and says nothing of the keys`, () => {
    const change = put(kind, key, body);
    assert.ok(change.kind === 'reject');
    assert.match(change.error, error);
    assert.ok(!change.error.includes(PRIMARY));
  });
}
