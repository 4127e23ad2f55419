/** A disk that fills and has room again, each told once. Six minutes, since five must pass with room. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { startReceiver } from '../support/events/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const LIMIT_MS = 420_000;

test('a disk that fills, and one that has room again, is told once each', needs('mounts'), async (t) => {
  const folder = temporaryFolder(t);
  const receiver = await startReceiver(t);
  const script = 'mount -t tmpfs -o size=100m tmpfs "$0" && exec "$@"';
  const service = await startService(t, {
    inside: [obtain('mounts'), '-rm', 'sh', '-c', script, folder],
    dataDir: join(folder, 'data'),
    settings: {
      CAUSEWAY_BOOTSTRAP_TOKEN: 'a-token-of-the-test-that-is-long-enough',
      CAUSEWAY_CACHE_DISK_SIZE: '0',
      CAUSEWAY_LOG_SPOOL: '64MB',
      CAUSEWAY_ROLES: 'control',
    },
  });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  await client.call('eventOperator.setWebhook', { url: receiver.url });
  // The file system is seen by the processes of the service alone.
  const file = join(`/proc/${service.process.child.pid}/root`, folder, 'fill');
  writeFileSync(file, Buffer.alloc(92 * 2 ** 20));
  const isTold = (kind: string) => () => receiver.accepted().filter((accepted) => accepted === kind).length === 1;
  await eventually('it is told that it is nearly full', isTold('disk.nearFull'), LIMIT_MS);
  rmSync(file);
  await eventually('it is told that it has room', isTold('disk.roomy'), LIMIT_MS);
  assert.deepEqual(
    receiver.accepted().filter((kind) => kind.startsWith('disk.')),
    ['disk.nearFull', 'disk.roomy'],
  );
});
