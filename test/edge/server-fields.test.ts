/** Fields by which an origin speaks as the viewer's server: what docs/edge.md says of each is what viewers get, by each way. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { fetchOver, open } from '../support/edge/http2-client.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { needs } from '../support/runner/needs.ts';

const DOCS = readFileSync(join(import.meta.dirname, '../../docs/edge.md'), 'utf8');
const ROWS = [...DOCS.matchAll(/^\| (dropped|passed) \| `([\w-]+)` \|/gm)].map(([, verb, name = '']) => ({
  name: name.toLowerCase(),
  isPassed: verb === 'passed',
}));

test(
  'each Server-like field is dropped or passed as documented: miss and hit, HTTP/1.1 and HTTP/2',
  needs('openssl'),
  async (t) => {
    assert.ok(ROWS.length >= 9, 'docs/edge.md has the table');
    const said = Object.fromEntries(ROWS.map(({ name }) => [name, `of-the-origin; ${name}`]));
    const edge = await startHttpsEdge(t, reply('object', { ...said, 'cache-control': 'max-age=60' }));
    const session = open(t, edge);
    const ways = {
      'HTTP/1.1': (path: string) => edge.get(path),
      'HTTP/2': (path: string) => fetchOver(session, path),
    };
    for (const [way, get] of Object.entries(ways))
      for (const mark of ['MISS', 'HIT', 'HIT']) {
        const { headers } = await get(`/${way}`);
        assert.equal(headers['x-cache'], mark);
        for (const { name, isPassed } of ROWS)
          assert.equal(headers[name], isPassed ? said[name] : undefined, `${way}, ${mark}: ${name}`);
      }
  },
);

test('an interim response does not carry these fields either, and a request does not say which server the client chose', async (t) => {
  const { edge, origin } = await startSite(t, (_, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload', 'alt-svc': 'h3=":443"' });
    response.end('object');
  });
  const text = await connectRaw(
    edge.port,
    `GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\nAlt-Used: origin.example\r\nConnection: close\r\n\r\n`,
  ).closed;
  assert.match(text, /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload\r\n\r\n/i);
  assert.doesNotMatch(text, /alt-svc/i);
  assert.equal(origin.requests[0]?.headers['alt-used'], undefined);
});
