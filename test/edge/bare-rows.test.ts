/** Rows of requests of every kind on one connection, cut anywhere: each is answered as itself, in order, by whichever part of the edge. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
/** What a body must not be taken for. */
const INNER = `GET /inner HTTP/1.1\r\n${HOST}\r\n`;
const INNER_SIZE = INNER.length.toString(16);

interface Sent {
  readonly bytes: string;
  /** Target as the origin sees it; `undefined`: the edge answers by itself. */
  readonly asked: string | undefined;
}

type Kind = (target: string) => Sent;

const plain: Kind = (target) => ({ bytes: `GET ${target} HTTP/1.1\r\n${HOST}\r\n`, asked: `GET ${target}` });

/** Requests for our reader. */
const ours: readonly Kind[] = [
  plain,
  (target) => ({ bytes: `GET ${target} HTTP/1.1\r\n${HOST}Accept-Encoding: gzip\r\n\r\n`, asked: `GET ${target}` }),
  (target) => ({ bytes: `HEAD ${target} HTTP/1.1\r\n${HOST}\r\n`, asked: `HEAD ${target}` }),
  (target) => ({ bytes: `GET ${target} HTTP/1.1\r\nhost:${SITE_HOST}\r\nA:\t b \r\n\r\n`, asked: `GET ${target}` }),
  (target) => ({ bytes: `GET ${target} HTTP/1.1\r\n${HOST}B: ${'b'.repeat(3_000)}\r\n\r\n`, asked: `GET ${target}` }),
  (target) => ({ bytes: `GET ${target} HTTP/1.1\r\nHost: unknown.example\r\n\r\n`, asked: undefined }),
];

/** Requests for node:http, with all that follow. */
const others: readonly Kind[] = [
  (target) => ({ bytes: `GET ${target} HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`, asked: `GET ${target}` }),
  (target) => ({ bytes: `\r\nGET ${target} HTTP/1.1\r\n${HOST}\r\n`, asked: `GET ${target}` }),
  (target) => ({ bytes: `GET http://${SITE_HOST}${target} HTTP/1.1\r\n${HOST}\r\n`, asked: `GET ${target}` }),
  (target) => ({ bytes: `OPTIONS ${target} HTTP/1.1\r\n${HOST}\r\n`, asked: `OPTIONS ${target}` }),
  (target) => ({
    bytes: `POST ${target} HTTP/1.1\r\n${HOST}Content-Length: ${INNER.length}\r\n\r\n${INNER}`,
    asked: `POST ${target} ${INNER}`,
  }),
  (target) => ({
    bytes: `POST ${target} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${INNER_SIZE}\r\n${INNER}\r\n0\r\n\r\n`,
    asked: `POST ${target} ${INNER}`,
  }),
];

const anyKind = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...ours) }, fc.constantFrom(...others));
const anyRow = fc.array(
  fc.tuple(anyKind, fc.constantFrom('/kept', '/other', '/new')).map(([kind, target]) => kind(target)),
  { minLength: 1, maxLength: 20 },
);

test('every request of a pipelined row gets its answer, in order', async (t) => {
  const { edge, origin } = await startSite(t, ({ method, target, body }, response) => {
    const text = body === '' ? `${method} ${target}` : `${method} ${target} ${body}`;
    const kept = target === '/kept' || target === '/other' ? 'max-age=600' : 'no-store';
    response
      .writeHead(200, { 'content-length': text.length, 'cache-control': kept })
      .end(method === 'HEAD' ? '' : text);
  });
  const property = fc.asyncProperty(anyRow, fc.array(fc.nat(), { maxLength: 6 }), async (sent, cuts) => {
    const last = plain('/new');
    const bytes = `${sent.map((one) => one.bytes).join('')}${last.bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`;
    edge.log.length = 0;
    const client = connectRaw(edge.port);
    await once(client.socket, 'connect');
    client.socket.setNoDelay(true);
    const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
    for (const [index, at] of places.entries()) {
      client.socket.write(bytes.slice(at, places[index + 1] ?? at), 'latin1');
      await turn();
    }
    checkAnswers(await client.closed, [...sent, last]);
    await eventually('logged', () => edge.log.length >= sent.length + 1);
    assert.equal(edge.log.length, sent.length + 1);
    assert.equal(edge.edge.underWay, 0);
  });
  await fc.assert(property, { numRuns: 150, seed: 277 });
  assert.ok(origin.requests.every(({ target }) => target !== '/inner'));
  const metrics = await edge.registry.metrics();
  assert.match(metrics, /causeway_edge_prepared_answers_total [1-9]\d\d/);
});

/** Reads each answer by its own length, as a client does. */
function checkAnswers(text: string, sent: readonly Sent[]): void {
  let at = 0;
  for (const { bytes, asked } of sent) {
    const end = text.indexOf('\r\n\r\n', at) + 4;
    const head = text.slice(at, end);
    const length = Number(/^content-length: (\d+)\r$/im.exec(head)?.[1]);
    const body = bytes.startsWith('HEAD') ? '' : text.slice(end, end + length);
    assert.match(head, asked === undefined ? /^HTTP\/1\.1 403 / : /^HTTP\/1\.1 200 /);
    // A HEAD is answered from what a GET has stored, and is passed on where there is nothing.
    if (asked !== undefined && body !== '') assert.equal(body, asked);
    at = end + body.length;
  }
  assert.equal(text.length, at);
}
