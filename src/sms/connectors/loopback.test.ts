import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '#lib/logger.ts';
import { connectTestCarrier, partToSubmit } from '../../../test/support/sms/carrier.ts';
import { connectorSuite } from './connector.suite.ts';

connectorSuite('loopback', {}, 'simulated', async (t) => connectTestCarrier(t, { kind: 'loopback' }));

test('the loopback connector warns at the first message, and not of its presence', async (t) => {
  const warnings: string[] = [];
  const destination = { write: (line: string) => void warnings.push(JSON.parse(line).msg) };
  const log = createLogger({ level: 'warn', name: 'test', destination });
  const { carrier, bound } = connectTestCarrier(t, { kind: 'loopback' }, { log });
  await bound();
  assert.deepEqual(warnings, []);
  await Promise.all([carrier.submit(partToSubmit()), carrier.submit(partToSubmit({ partId: 2 }))]);
  assert.deepEqual(warnings, [
    'the loopback connector took a message: it and later ones are only simulated and do not reach phones',
  ]);
});
