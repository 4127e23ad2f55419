/** `page_compress`, `expires` and `access_control_max_age` from the call to the viewer, with every process real. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createClient } from '#client/client.ts';
import { ADVANCED_OFF } from '../support/edge/advanced.ts';
import { someText } from '../support/edge/coded.ts';
import { fetchFrom } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { startService } from '../support/process/service.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';

const SETTINGS = { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000' };
const PREFLIGHT = ['Origin', 'https://a.example', 'Access-Control-Request-Method', 'PUT'];
/** Each on a connection of its own, so that the kernel spreads them over the workers. */
const VIEWERS = 12;

test('compression is in force for every viewer when the domain has it on, and off again likewise', async (t) => {
  const text = someText(20_000);
  const origin = await startOrigin(t, reply(text, { 'content-type': 'text/html', 'cache-control': 'max-age=60' }));
  const service = await startService(t, { settings: SETTINGS });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const data = `127.0.0.1:${origin.port}`;
  const { domain_id } = await client.call('domain.add', { domain: '*.example.com', cdn_type: '1', data });
  const set = async (change: Partial<typeof ADVANCED_OFF>) => {
    await client.call('config.setAdvanced', { domain_id, ...ADVANCED_OFF, ...change });
    await untilInForce({ client, domain_id });
  };
  const port = Number(new URL(service.edgeUrl).port);
  const ask = async (method: string, headers: readonly string[]) => {
    const host = 'a.b.example.com';
    const answers = Array.from({ length: VIEWERS }, () => fetchFrom(port, '/', { method, host, headers }));
    return Promise.all(answers);
  };
  const assertPlain = async () => {
    for (const { headers, body } of await ask('GET', ['Accept-Encoding', 'gzip'])) {
      assert.deepEqual(
        [headers['content-encoding'], headers['vary'], headers['cache-control']],
        [undefined, undefined, 'max-age=60'],
      );
      assert.equal(body, text);
    }
    for (const { headers } of await ask('OPTIONS', PREFLIGHT))
      assert.equal(headers['access-control-max-age'], undefined);
  };

  await set({});
  await assertPlain();
  await set({ page_compress: 1, expires: 7200, access_control_max_age: 600 });
  for (const { headers, body } of await ask('GET', ['Accept-Encoding', 'gzip'])) {
    const shown = [headers['content-encoding'], headers['vary'], headers['cache-control']];
    assert.deepEqual(shown, ['gzip', 'Accept-Encoding', 'max-age=7200']);
    assert.equal(gunzipSync(Buffer.from(body, 'latin1')).toString(), text);
  }
  for (const { headers } of await ask('OPTIONS', PREFLIGHT)) assert.equal(headers['access-control-max-age'], '600');
  await set({});
  await assertPlain();
});
