/** What control accepts for a domain, the edge serves: generated names and certificates, with a handshake for each. docs/decisions/0430 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connect } from 'node:tls';
import type { SiteSpec } from '#sites/spec.ts';
import { add, dataOf, specOf, startWithCustomers } from '../support/api/customers.ts';
import { newSqlite } from '../support/db/databases.ts';
import { type HttpsEdge, startHttpsEdge } from '../support/edge/https-edge.ts';
import { needs } from '../support/runner/needs.ts';

const DOMAINS = [
  'www.example.com',
  'a.www.example.com',
  'example.com',
  '*.example.com',
  '*.www.example.com',
  'api.internal',
  'xn--fiq228c.example.com',
  'www.example.co.uk',
  '*.github.io.example.com',
];

const NAMES: readonly (readonly string[])[] = [
  ['*.internal'],
  ['*.internal', 'API.Internal'],
  ['*.com', '*.example.com'],
  ['*.EXAMPLE.com', 'example.com'],
  ['w*.example.com', '*.*.com', 'www.example.com.'],
  ['*.www.example.com', '*.co.uk', '*.example.co.uk'],
  ['xn--fiq228c.example.com', 'other.example.com'],
  ['*.github.io.example.com', '192.0.2.1'],
];

describe('control and the edge', needs('openssl'), () => {
  test('control and the edge agree on which certificate serves which domain', async (t) => {
    const { api, mine } = await startWithCustomers(t, newSqlite);
    const edge = await startHttpsEdge(t);
    const ids = new Map<string, string>();
    for (const domain of DOMAINS) ids.set(domain, await add(mine, domain, { data: `127.0.0.1:${edge.origin.port}` }));
    const counts = { promised: 0, refused: 0 };
    for (const [index, names] of NAMES.entries()) {
      const issued = edge.authority.issue(names, { isRsa: index % 2 === 1, hasIntermediate: index % 3 === 0 });
      api.now = Date.now();
      const request = { ssl_title: 'a title', private_key: issued.key, certificate: issued.cert };
      const ssl_key = String(dataOf(await mine('certificate.add', request))['ssl_key']);
      edge.certificates.set(ssl_key, { certificate: issued.cert, key: issued.key });
      for (const [domain, domain_id] of ids) {
        const tls_min_version = index % 2 === 0 ? '1.2' : '1.3';
        const set = await mine('config.setSsl', { domain_id, ssl_control: 1, ssl_key, tls_min_version });
        const isPromised = set.errorCode === undefined;
        // What control refuses is tried all the same: the edge has to refuse it too.
        if (isPromised) edge.put((await specOf(api, domain)) as SiteSpec);
        else edge.putTls(domain, { certificate: ssl_key });
        const host = domain.replace(/^\*/, 'any-label');
        assert.equal(await canShake(edge, host), isPromised, `${domain} with ${names}: control says ${set.errorCode}`);
        counts[isPromised ? 'promised' : 'refused'] += 1;
        if (domain.startsWith('*.')) assert.equal(await canShake(edge, `b.any-label${domain.slice(1)}`), false, domain);
        edge.put({ ...((await specOf(api, domain)) as SiteSpec), tls: { certificate: 'none' } });
      }
    }
    assert.deepEqual(counts, { promised: 13, refused: 59 });
  });
});

/** Whether a client gets a handshake under this name, with a certificate that it accepts for it. */
async function canShake({ httpsPort, authority }: HttpsEdge, servername: string): Promise<boolean> {
  const client = connect({ port: httpsPort, host: '127.0.0.1', servername, ca: authority.ca });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  client.on('secureConnect', () => resolve(true)).on('error', () => resolve(false));
  const isShaken = await promise;
  client.destroy();
  return isShaken;
}
