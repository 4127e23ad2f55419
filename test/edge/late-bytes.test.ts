/** Bytes of an origin that nobody asked for, on a connection that is kept: they are no answer to anybody. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { NO_ORIGINS, startTestEdge } from '../support/edge/edge.ts';
import { startRawOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';

const answer = (body: string) =>
  `HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const UNASKED = answer('unasked');

describe('unexpected bytes of an origin', () => {
  const rows = [
    ['a response', UNASKED],
    ['the beginning of one', UNASKED.slice(0, 3)],
    ['what is no response', 'rest of a body'],
  ] as const;
  for (const [what, bytes] of rows) {
    test(`${what} in one piece with the end of the answer ends the connection`, async (t) => {
      const origin = await startRawOrigin(t, (socket, head) => {
        socket.write(answer(targetOf(head)) + (targetOf(head) === '/bad' ? bytes : ''));
      });
      const edge = await startTestEdge(t, [origin.port]);
      for (const target of ['/bad', '/next', '/last']) {
        assert.deepEqual(await bodies(edge, [target]), [target]);
      }
      assert.equal(origin.connections(), 2);
    });

    test(`${what} on an idle connection ends it`, async (t) => {
      const sockets: Socket[] = [];
      const origin = await startRawOrigin(t, (socket, head) => {
        sockets.push(socket);
        socket.write(answer(targetOf(head)));
      });
      const edge = await startTestEdge(t, [origin.port]);
      assert.deepEqual(await bodies(edge, ['/first']), ['/first']);
      sockets[0]?.write(bytes);
      await eventually('closed by the edge', () => sockets[0]?.destroyed === true);
      assert.deepEqual(await bodies(edge, ['/next', '/last', '/next']), ['/next', '/last', '/next']);
      assert.equal(origin.connections(), 2);
    });
  }

  test('a connection serves one domain only, even if another has the same origin', async (t) => {
    const served = new Map<Socket, Set<string>>();
    const origin = await startRawOrigin(t, (socket, head) => {
      const [, host = ''] = /\r\nx-forwarded-host: (\S+)/i.exec(head) ?? [];
      served.set(socket, (served.get(socket) ?? new Set()).add(host));
      socket.write(answer(host));
    });
    const primary = [{ host: '127.0.0.1', port: origin.port }];
    const edge = await startTestEdge(t, { primary });
    for (const name of ['a.example.com', 'b.example.com']) {
      edge.put({ name, origins: { ...NO_ORIGINS, primary, hostHeader: 'origin.example.com' } });
    }
    for (let i = 0; i < 4; i++) {
      for (const host of ['a.example.com', 'b.example.com']) {
        assert.equal((await edge.get(`/${i}`, { host })).body, host);
      }
    }
    assert.deepEqual(
      [...served.values()].map((hosts) => [...hosts].join()),
      ['a.example.com', 'b.example.com'],
    );
  });
});

async function bodies(edge: Awaited<ReturnType<typeof startTestEdge>>, targets: readonly string[]) {
  const list: string[] = [];
  for (const target of targets) list.push((await edge.get(target)).body);
  return list;
}

function targetOf(head: string): string {
  return head.split(' ')[1] ?? '';
}
