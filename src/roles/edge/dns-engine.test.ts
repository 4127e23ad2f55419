import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NameServer } from '#dns/name-server.ts';
import { createLogger } from '#lib/logger.ts';
import type { PartContext } from '../process/child.ts';
import { startEngine } from './dns-engine.ts';

test('a name server that cannot listen says why, and its process goes on', async () => {
  const config = { dnsEngine: 'embedded', dnsListen: { host: '192.0.2.1', port: 53 } };
  const log = createLogger({ level: 'silent', name: 'test' });
  // `as`: the engine reads these settings, and asks the name server with the first query.
  const context = { config, log } as Pick<PartContext, 'config' | 'log'>;
  await using engine = await startEngine(context, {} as NameServer);
  assert.match(engine.describe().problem ?? '', /^cannot listen on 192\.0\.2\.1:53: /);
});
