import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { noCounters } from '../counters.ts';
import { openOutbox } from './outbox.ts';

function createOpen(t: TestContext) {
  const file = join(temporaryFolder(t), 'outbox.db');
  return () => openOutbox({ file, edge: 'edge-1', onLost: () => undefined, onMoved: () => undefined });
}

/** One request of each. */
function requestsOf(domainIds: readonly number[]) {
  return domainIds.map((domainId) => ({ ...noCounters(), requests: 1, bytesOut: domainId, domainId, minute: 1 }));
}

const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const PLACE = { readTo: 1, upTo: 1 };

test('the first thousand domains are told apart, the others are one', (t) => {
  const open = createOpen(t);
  {
    using outbox = open();
    outbox.advance('a', PLACE, requestsOf(ids(1, 600)));
    assert.equal(outbox.totals().others, undefined);
    assert.deepEqual(outbox.totals(), { isWhole: false, domains: [], others: undefined }, 'nothing has changed');
    outbox.advance('a', PLACE, requestsOf([5, ...ids(600, 1_100)]));
    const { isWhole, domains, others } = outbox.totals();
    assert.deepEqual([isWhole, domains[0]?.domainId, domains[0]?.requests, domains.length], [false, 5, 2, 402]);
    assert.equal(others?.requests, 99);
    assert.deepEqual([outbox.totals().domains, outbox.totals().others], [[], undefined]);
  }
  using outbox = open();
  outbox.advance('a', PLACE, requestsOf([1_000, 1_099]));
  const { domains, others } = outbox.totals();
  assert.deepEqual(
    domains.map(({ domainId }) => domainId),
    ids(1, 1_001),
  );
  assert.deepEqual([domains[4]?.requests, domains[999]?.requests], [2, 2]);
  const bytesOut = ids(1_001, 1_100).reduce((sum, id) => sum + id, 1_099);
  assert.deepEqual([others?.requests, others?.bytesOut], [100, bytesOut]);
});
