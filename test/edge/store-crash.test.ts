/** The cache directory after its workers were killed; `test/soak/store.soak.ts` has the long one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashRound } from '../support/edge/store-crash.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('workers killed in the middle of fills leave no truncated or mixed body', async (t) => {
  const directory = temporaryFolder(t);
  for (let round = 1; round <= 2; round++) {
    const { objects } = await crashRound(directory, round);
    assert.ok(objects > 10, `${objects} objects`);
  }
});
