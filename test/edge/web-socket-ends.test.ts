/** How WebSocket connections end: by either end, at any point, by a limit or by the edge; and the line that says so. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connectRaw, loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { startRawOrigin } from '../support/edge/origin.ts';
import { accept, bodyOf, HANDSHAKE, open, openSockets, startPeer } from '../support/edge/web-socket.ts';
import { eventually } from '../support/eventually.ts';

describe('the end of a WebSocket', () => {
  test('a WebSocket has one log line: 101, the bytes of both directions, the fields of the request', async (t) => {
    const peer = await startPeer(t);
    const client = await open(peer, HANDSHAKE.replace('\r\n\r\n', '\r\nUser-Agent: test\r\n\r\nab'));
    client.socket.write('c'.repeat(98));
    await eventually('heard', () => peer.got[0]?.length === 100);
    peer.sockets[0]?.write('d'.repeat(1000));
    await eventually('told', () => bodyOf(client).length === 1000);
    assert.equal(peer.log.length, 0);
    const sent = client.text().length;
    client.socket.end();
    peer.sockets[0]?.end();
    await eventually('logged', () => peer.log.length === 1);
    const asked = HANDSHAKE.length + 'User-Agent: test\r\n'.length;
    const [line] = peer.log;
    assert.ok(line !== undefined);
    const { client: _client, endedAt: _endedAt, durationMs: _durationMs, ...rest } = line;
    assert.deepEqual(rest, {
      requestBytes: asked + 100,
      responseBytes: sent,
      host: SITE_HOST,
      method: 'GET',
      target: '/chat?room=1',
      protocol: 'HTTP/1.1',
      result: 'TCP_MISS/101',
      contentType: '-',
      referer: '-',
      userAgent: 'test',
    });
    const metrics = await peer.registry.metrics();
    assert.match(metrics, /causeway_edge_requests_total\{cache="BYPASS",reason="websocket",status="1xx"\} 1/);
    assert.match(metrics, /causeway_edge_web_sockets 0/);
  });

  test('an end that has closed its side still receives from the other', async (t) => {
    const peer = await startPeer(t);
    const client = await open(peer);
    client.socket.allowHalfOpen = true;
    peer.sockets[0]?.end('the last of the origin');
    await eventually('told', () => bodyOf(client) === 'the last of the origin');
    client.socket.write('the last of the client');
    await eventually('heard', () => peer.got[0] === 'the last of the client');
    client.socket.end();
    await client.closed;
    await eventually('logged', () => peer.log.length === 1);
  });

  test('a WebSocket with one side closed has a limited time for the other', async (t) => {
    const peer = await startPeer(t, { isHalfOpen: true, limits: { webSocketEndedMs: 100 } });
    const client = await open(peer);
    client.socket.end();
    await client.closed;
    await eventually('the origin sees it', () => peer.sockets[0]?.readableEnded);
    await eventually('logged', () => peer.log.length === 1);
  });

  test('an end that breaks off ends the other too, at any point', async (t) => {
    const peer = await startPeer(t);
    const byClient = await open(peer);
    byClient.socket.resetAndDestroy();
    await eventually('the origin sees it', () => peer.sockets[0]?.destroyed);
    const byOrigin = await open(peer);
    peer.sockets[1]?.resetAndDestroy();
    await byOrigin.closed;
    // In the middle of much.
    const middle = await open(peer);
    middle.socket.pause();
    peer.sockets[2]?.write(Buffer.alloc(8_000_000));
    middle.socket.write(Buffer.alloc(8_000_000));
    await eventually('under way', () => (peer.got[2]?.length ?? 0) > 0);
    middle.socket.resetAndDestroy();
    await eventually('the origin sees it', () => peer.sockets[2]?.destroyed);
    await eventually('all are logged', () => peer.log.length === 3);
    for (const fields of peer.log) assert.equal(fields.result, 'TCP_MISS/101');
    await eventually('none is left', async () => (await openSockets(peer)) === 0);
  });

  for (const how of ['end', 'destroy', 'resetAndDestroy'] as const) {
    test(`a client that leaves before the origin has answered: ${how}`, async (t) => {
      const origin = await startRawOrigin(t, () => undefined);
      const edge = await startTestEdge(t, [origin.port]);
      const client = connectRaw(edge.port, HANDSHAKE);
      await eventually('asked', () => origin.heads.length === 1);
      client.socket[how]();
      await eventually('logged', () => edge.log[0]?.result === 'NONE/499');
      await eventually('none is left', async () => (await openSockets(edge)) === 0);
    });
  }

  test('a WebSocket without a byte for too long is ended, and so is one whose end reads nothing', async (t) => {
    const quiet = await startPeer(t, { limits: { webSocketIdleMs: 100 } });
    await (await open(quiet)).closed;
    await eventually('logged', () => quiet.log.length === 1);
    const stalled = await startPeer(t, { limits: { clientIdleMs: 100 } });
    const client = await open(stalled);
    client.socket.pause();
    stalled.sockets[0]?.write(Buffer.alloc(32_000_000));
    await eventually('cut', () => stalled.sockets[0]?.destroyed);
    await eventually('logged', () => stalled.log.length === 1);
  });

  test('a WebSocket ends when its domain is closed', async (t) => {
    const webSocketCheckMs = 50;
    const peer = await startPeer(t, { limits: { webSocketCheckMs } });
    const client = await open(peer);
    // The destination of new requests does not matter.
    peer.put({ name: SITE_HOST, origins: { ...NO_ORIGINS, primary: loopback([1]) } });
    await delay(2 * webSocketCheckMs); // the check comes first: its timer is due before
    peer.sockets[0]?.write('still there');
    await eventually('told', () => bodyOf(client) === 'still there');
    peer.put({ name: SITE_HOST, state: 'disabled' });
    await client.closed;
    await eventually('the origin sees it', () => peer.sockets[0]?.destroyed);
  });

  test('a WebSocket is waited for when the edge stops, then ended', async (t) => {
    const peer = await startPeer(t);
    const client = await open(peer);
    assert.equal(peer.edge.underWay, 1);
    await peer.edge.close(200);
    await client.closed;
    await eventually('the origin sees it', () => peer.sockets[0]?.destroyed);
    assert.equal(peer.log[0]?.result, 'TCP_MISS/101');
  });
});

describe('either end may leave at any point, in any way, without remains', () => {
  const much = 'x'.repeat(4_000_000);
  const points: readonly (readonly [what: string, script: (answer: string) => string, isUpgraded: boolean])[] = [
    ['before the origin has answered', () => '', false],
    ['in the middle of the answer', (answer) => answer.slice(0, 40), false],
    ['right after the answer', (answer) => answer, true],
    ['in the middle of many bytes', (answer) => answer + much, true],
  ];
  const limits = { webSocketEndedMs: 50, clientIdleMs: 200, firstByteMs: 5_000 };
  for (const [point, script, isUpgraded] of points) {
    for (const who of ['client', 'origin'] as const) {
      for (const how of ['end', 'destroy', 'resetAndDestroy'] as const) {
        test(`a WebSocket is left ${point}: ${who} ${how}`, async (t) => {
          const sockets: Socket[] = [];
          const origin = await startRawOrigin(t, (socket, head) => {
            socket.removeAllListeners('data').resume();
            sockets.push(socket.setNoDelay(true));
            socket.write(script(accept(head)));
          });
          const edge = await startTestEdge(t, [origin.port], { limits });
          const client = connectRaw(edge.port, isUpgraded ? HANDSHAKE + much : HANDSHAKE);
          await eventually('there', () => sockets.length > 0 && (!isUpgraded || client.text() !== ''));
          (who === 'client' ? client.socket : sockets[0])?.[how]();
          await client.closed;
          await eventually('all are closed', () => sockets.every(({ destroyed }) => destroyed));
          await eventually('none is left', async () => (await openSockets(edge)) === 0 && edge.edge.underWay === 0);
          assert.equal(edge.log.length, 1);
          if (isUpgraded) assert.equal(edge.log[0]?.result, 'TCP_MISS/101');
        });
      }
    }
  }
});
