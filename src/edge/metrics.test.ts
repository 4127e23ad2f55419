import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createEdgeMetrics } from './metrics.ts';
import { MemoryStore } from './store/memory.ts';

test('bytes of a lasting answer that turn out unsent are corrected, and metrics stay monotonic', async () => {
  const registry = new Registry();
  const metrics = createEdgeMetrics(registry, new MemoryStore({ maxBytes: 1000 }), { open: 0 }, { uncounted: 0 });
  const read = async () =>
    (await registry.getSingleMetric('causeway_edge_sent_bytes_total')?.get())?.values.map(({ value }) => value);
  let sent = 5_000;
  const close = metrics.openMeter(() => sent);
  assert.deepEqual(await read(), [5_000]);
  sent = 3_000; // it was cut, and the rest was never taken
  assert.deepEqual(await read(), [5_000]);
  metrics.countRequest({ status: 'HIT' }, 200, sent - close());
  assert.deepEqual(await read(), [5_000]);
  metrics.countRequest({ status: 'HIT' }, 200, 7_000);
  assert.deepEqual(await read(), [10_000]);
});
