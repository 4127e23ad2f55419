import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { ServiceError } from '#contract/errors/service-error.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { collectBody } from './collect-body.ts';
import { HeldBytes } from './held-bytes.ts';

const LIMITS = { inAllBytes: 100_000, freeBytes: 4_000 };

/** Which answers with the size of a body, or with the code of what is wrong with it. */
async function startCollecting(t: TestContext) {
  const held = new HeldBytes(LIMITS);
  const seen = { bytes: 0 };
  const server = createServer(async (request, response) => {
    request.on('data', (piece: Buffer) => {
      seen.bytes += piece.length;
    });
    try {
      response.end(`${(await collectBody(request, 60_000, held)).length}\n`);
    } catch (error) {
      response.end(`${error instanceof ServiceError ? error.code : error}\n`);
    }
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const begin = (sizeBytes: number, beginning: string) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1'); // of a socket that listens
    t.after(() => socket.destroy());
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${sizeBytes}\r\n\r\n${beginning}`);
    return socket;
  };
  return { held, seen, begin };
}

test('the memory for unfinished bodies is bounded: beyond it large ones are refused, small ones are not', async (t) => {
  const { held, seen, begin } = await startCollecting(t);
  const begun = [begin(50_001, 'x'.repeat(50_000)), begin(40_001, 'x'.repeat(40_000))];
  await eventually('they have come', () => seen.bytes === 90_000);
  assert.match(await text(begin(20_000, 'x'.repeat(20_000))), /\r\ntooManyRequests\n$/);
  assert.match(await text(begin(3_000, 'x'.repeat(3_000))), /\r\n3000\n$/);
  for (const socket of begun) socket.end('y');
  assert.match(await text(begun[0] ?? assert.fail()), /\r\n50001\n$/);
  assert.match(await text(begun[1] ?? assert.fail()), /\r\n40001\n$/);
  assert.match(await text(begin(59_000, 'x'.repeat(59_000))), /\r\n59000\n$/);
  assert.equal(held.change(0, LIMITS.inAllBytes), true, 'and nothing is held any more');
});

test('the memory for a body is released when its client leaves or it is too large', async (t) => {
  const { held, seen, begin } = await startCollecting(t);
  const leaving = begin(50_001, 'x'.repeat(50_000));
  await eventually('it has come', () => seen.bytes === 50_000);
  leaving.resetAndDestroy();
  await eventually('it is let go', () => {
    const isFree = held.change(0, LIMITS.inAllBytes);
    held.change(LIMITS.inAllBytes, 0);
    return isFree;
  });
  assert.match(await text(begin(60_001, '')), /\r\nbodyTooLarge\n$/);
  assert.equal(held.change(0, LIMITS.inAllBytes), true);
});
