import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '#lib/logger.ts';
import type { EdgeStatus } from '#model/edge.ts';
import { createStatusReporter } from './status-reporter.ts';

test('a report that is lost while the stream is open is sent again until control has it', async () => {
  let sent = 0;
  const accepted = Promise.withResolvers<void>();
  await using reporter = createStatusReporter({
    send: async () => {
      sent += 1;
      if (sent < 3) throw new Error('the connection was cut');
      accepted.resolve();
    },
    describe: () => ({}) as EdgeStatus, // `as`: nobody reads it
    repair: () => false,
    intervalMs: 0,
    isConnected: () => true,
    log: createLogger({ level: 'silent', name: 'test' }),
  });
  reporter.setApplied({ epoch: 'e', revision: 1, tag: 't' });
  reporter.reportSoon();
  await accepted.promise;
  assert.equal(sent, 3);
});
