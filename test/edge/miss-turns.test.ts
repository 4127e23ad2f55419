/** What a plain miss costs in turns of the event loop: it waits for its origin, and for nothing else. docs/decisions/0569 */
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { startRawOrigin } from '../support/edge/origin.ts';

const KIB = 1024;
/** Requests that open connections, and teach the edge that a key is not shared. */
const WARM_REQUESTS = 3;
/** Other work of the process may fall into some of these. */
const COUNTED_REQUESTS = 5;

type Row = readonly [what: string, cacheControl: string, bodyBytes: number, target: (request: number) => string];

const ROWS: readonly Row[] = [
  ['a response that may not be stored', 'no-store', KIB, () => '/'],
  ['a response that may not be stored, of a new URL', 'no-store', KIB, (request) => `/${request}`],
  ['a new URL that is stored', 'max-age=60', KIB, (request) => `/${request}`],
  ['a large new URL that is stored', 'max-age=60', 100 * KIB, (request) => `/${request}`],
];

describe('promises of a plain miss', () => {
  for (const [what, cacheControl, bodyBytes, target] of ROWS) {
    test(`no promise is made for ${what}`, async (t) => {
      const origin = await startRawOrigin(t, (socket) => {
        const head = `HTTP/1.1 200 OK\r\nCache-Control: ${cacheControl}\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
        socket.write(head + 'x'.repeat(bodyBytes));
      });
      const edge = await startTestEdge(t, [origin.port]);
      const socket = connect({ port: edge.port, host: '127.0.0.1' });
      t.after(() => socket.destroy());
      const promises: number[] = [];
      let made = 0;
      const counting = createHook({
        init: (_id, type) => {
          if (type === 'PROMISE') made += 1;
        },
      });
      for (let request = 0; request < WARM_REQUESTS + COUNTED_REQUESTS; request++) {
        const answered = once(socket, 'answered');
        let left = bodyBytes;
        socket.on('data', function read(bytes: Buffer) {
          const end = left === bodyBytes ? bytes.indexOf('\r\n\r\n') + 4 : 0;
          left -= bytes.length - end;
          if (left > 0) return;
          counting.disable();
          socket.off('data', read).emit('answered');
        });
        // In a turn of its own: waiting for the answer makes promises too.
        setImmediate(() => {
          made = 0;
          counting.enable();
          socket.write(`GET ${target(request)} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
        });
        await answered;
        promises.push(made);
      }
      assert.equal(origin.heads.length, WARM_REQUESTS + COUNTED_REQUESTS);
      assert.equal(Math.min(...promises.slice(WARM_REQUESTS)), 0, `${promises}`);
    });
  }
});
