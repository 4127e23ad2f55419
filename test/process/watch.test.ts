/** Hints of a running service: a change travels to the edge, and to a stream at another control. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { openWatch, type TestWatch } from '../support/api/watch.ts';
import { newPostgres } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/process/service.ts';
import { startWithDomain } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const hintsOf = ({ events }: TestWatch, id: string) =>
  events.filter(({ data }) => data['id'] === id).map(({ data }) => data['hint']);

test('a change is a hint, and another one when the edge has applied it', async (t) => {
  const { service, client, domain_id } = await startWithDomain(t, 9);
  const watch = await openWatch(t, { url: service.controlUrl }, service.token, { kinds: ['domain'] });
  await client.call('domain.setStatus', { domain_id, domain_status: '0' });
  await eventually('the edge has it', () => hintsOf(watch, domain_id).includes('propagation'));
  assert.equal(hintsOf(watch, domain_id)[0], 'domain.setStatus');
  const { in_force, edges } = await client.call('domain.propagation', { domain_id });
  assert.deepEqual([in_force, edges.map(({ state }) => state)], ['1', ['done']]);
  assert.equal(await service.stop(), 0);
  await eventually('the stream has ended', () => watch.isEnded);
  assert.deepEqual(watch.events.at(-1)?.data, { reason: 'stopping' });
});

test('a stream at one control has what is changed at another', needs('postgres'), async (t) => {
  const { url = '' } = await newPostgres(t);
  const settings = {
    DATABASE_URL: url,
    CAUSEWAY_ROLES: 'control',
    CAUSEWAY_KEYRING: join(temporaryFolder(t), 'keyring'),
    CAUSEWAY_LOG_STORE_SHARED: 'true',
  };
  const first = await startService(t, { settings });
  const second = await startService(t, { settings });
  const watch = await openWatch(t, { url: second.controlUrl }, first.token, { kinds: ['domain'] });
  const client = createClient({ baseUrl: first.controlUrl, accessToken: first.token });
  const { domain_id } = await client.call('domain.add', { domain: 'a.example', cdn_type: 1, data: '192.0.2.1' });
  await eventually('the other control says so', () => hintsOf(watch, domain_id).includes('domain.add'));
});
