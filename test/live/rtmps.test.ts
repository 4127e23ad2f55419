/** RTMPS: certificates, a proxy before it, and clients that misuse its handshake. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { connect as connectTls, createSecureContext, TLSSocket } from 'node:tls';
import { HANDSHAKE_END_BYTES } from '#live/rtmp/handshake.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { helloOf } from '../support/edge/client-hello.ts';
import { eventually } from '../support/eventually.ts';
import { HOST, startLiveWorld } from '../support/live/live-world.ts';
import { RtmpClient, sampleMessages } from '../support/live/rtmp-client.ts';
import { beginHandshake } from '../support/live/rtmp-handshake.ts';
import { openSilent, publishSample, startTestRtmpServer, type TestRtmpServer } from '../support/live/rtmp-server.ts';
import { needs } from '../support/runner/needs.ts';
import { createManualTimers } from '../support/timers.ts';

describe('RTMPS', needs('openssl'), () => {
  test('a client of RTMPS gets the certificate of the host that it asks for, or an alert', async (t) => {
    const authority = createAuthority(t);
    const context = createSecureContext(authority.issue([HOST]));
    await using server = await startTestRtmpServer({
      plain: undefined,
      tls: {
        listen: { host: '127.0.0.1', port: 0 },
        secureContexts: (name) => (name === HOST ? context : undefined),
      },
    });
    const tls = { serverName: HOST, ca: authority.ca };
    await using publisher = await publishSample(server, 'a', { tls, port: server.tlsPort });
    const [published] = server.owner.published;
    assert.equal(published?.request.isTls, true);
    published?.connection.close({ code: 'NetStream.Publish.Denied', description: 'forbidden' });
    const flood = setInterval(() => publisher.send({ kind: 'video', timestampMs: 9, data: Buffer.alloc(100_000) }), 5);
    await eventually('the reset', () => publisher.isClosed);
    clearInterval(flood);
    for (const servername of ['other.example.com', '']) {
      const socket = connectTls({ port: server.tlsPort, host: '127.0.0.1', servername, ca: authority.ca });
      const [error] = await once(socket, 'error');
      assert.match(error.code, /^ERR_SSL_.*ALERT|ECONNRESET/);
    }
  });

  test('a trusted proxy names the client of an RTMPS connection before its handshake', async (t) => {
    const authority = createAuthority(t);
    const context = createSecureContext(authority.issue([HOST]));
    await using server = await startTestRtmpServer({
      plain: undefined,
      tls: { listen: { host: '127.0.0.1', port: 0 }, secureContexts: () => context },
      trustedProxies: ['127.0.0.1'],
      proxyProtocol: 'required',
    });
    const tls = { serverName: HOST, ca: authority.ca };
    const preamble = Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n', 'latin1');
    await using _publisher = await publishSample(server, 'a', { tls, preamble, port: server.tlsPort });
    const { clientAddress, isTls } = server.owner.published[0]?.request ?? {};
    assert.deepEqual([clientAddress, isTls], ['192.0.2.7', true]);
  });
});

test(
  'a publisher by RTMPS is shown the certificate that its domain has when it connects',
  needs('openssl'),
  async (t) => {
    const world = await startLiveWorld(t, { rtmpsListen: { host: '127.0.0.1', port: 0 } });
    const authority = createAuthority(t);
    const { key, cert: certificate } = authority.issue([HOST]);
    const at = { port: world.live.rtmpsPort, app: 'live', host: HOST, tls: { serverName: HOST, ca: authority.ca } };
    await assert.rejects(RtmpClient.openStream(at), 'it has none yet');
    world.addCertificate('c1', { certificate, key });
    world.setSite({ tls: { certificate: 'c1' } });
    await using client = await RtmpClient.openStream(at);
    assert.equal((await client.publish('a')).code, 'NetStream.Publish.Start');
    for (const message of sampleMessages(10)) client.send(message);
    await eventually('it is on air', () => world.states.get('a') === 'live');

    // A renewed certificate is for those who connect from then on.
    const renewed = authority.issue([HOST]);
    world.addCertificate('c2', { certificate: renewed.cert, key: renewed.key });
    world.setSite({ tls: { certificate: 'c2' } });
    await using next = await RtmpClient.openStream(at);
    assert.notDeepEqual(certificateOf(next), certificateOf(client));
    assert.deepEqual([client.hasEnded, world.states.get('a'), world.told], [false, 'live', ['began a']]);
  },
);

describe('RTMPS under attack', needs('openssl'), () => {
  const hello = () => helloOf({ servername: HOST });
  const rtmp = async () => beginHandshake(Buffer.alloc(HANDSHAKE_END_BYTES), undefined);
  const rows: readonly (readonly [
    what: string,
    first: () => Promise<Buffer>,
    port: 'port' | 'tlsPort',
    end: string,
  ])[] = [
    ['speaks RTMP where TLS is spoken', rtmp, 'tlsPort', 'tlsFailed'],
    ['speaks TLS where RTMP is spoken', hello, 'port', 'notRtmp'],
    ['speaks HTTP where TLS is spoken', async () => Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'tlsPort', 'tlsFailed'],
    ['sends an alert first', async () => Buffer.from('15030100020228', 'hex'), 'tlsPort', 'tlsFailed'],
    ['sends a hello that is not one', async () => Buffer.from('160301000401000000', 'hex'), 'tlsPort', 'tlsFailed'],
    ['names no host', () => helloOf({}), 'tlsPort', 'tlsFailed'],
    ['names a host that is none of ours', () => helloOf({ servername: 'other.example' }), 'tlsPort', 'tlsFailed'],
  ];
  for (const [what, first, port, end] of rows)
    test(`an RTMPS client that ${what} is disconnected`, async (t) => {
      const { server } = await startTls(t);
      const [socket] = await openSilent(t, server[port], 1, { first: await first() });
      await eventually('the end', () => socket?.destroyed);
      await endedAs(server, end);
    });

  test('a client that leaves during the TLS handshake frees its place', async (t) => {
    const { server, publish } = await startTls(t);
    const whole = await hello();
    for (const leave of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()])
      for (const first of [whole.subarray(0, 40), whole]) {
        const [socket] = await openSilent(t, server.tlsPort, 1, { first });
        if (first === whole) await eventually('the answer', () => (socket?.bytesRead ?? 0) > 0);
        if (socket !== undefined) leave(socket);
      }
    await eventually('no connection is left', async () =>
      (await server.registry.metrics()).includes('causeway_rtmp_connections{role="waiting"} 0'),
    );
    await publish('a');
  });

  test('a client that drips has 5 s for the handshakes of TLS and RTMP together', async (t) => {
    const timers = createManualTimers();
    const { server, authority } = await startTls(t, { timers, limits: { handshakeMs: 5_000 } });
    const first = await hello();
    const [dripping] = await openSilent(t, server.tlsPort, 1, { first: first.subarray(0, 1) });
    const slow = await openTls(t, server.tlsPort, authority.ca);
    for (let at = 1; at < 50; at++) {
      timers.advance(99);
      dripping?.write(first.subarray(at, at + 1));
    }
    slow.write(Buffer.alloc(10, 3));
    timers.advance(148);
    const metrics = await server.registry.metrics();
    assert.match(metrics, /causeway_rtmp_connections\{role="waiting"\} 2\n/);
    timers.advance(1);
    await eventually('both ended', () => dripping?.destroyed === true && slow.destroyed);
    await endedAs(server, 'handshakeTimeout', 2);
  });

  test('500 unfinished TLS handshakes from one address keep nobody from publishing', async (t) => {
    const { server, publish } = await startTls(t);
    const first = await hello();
    const half = await openSilent(t, server.tlsPort, 500, { first });
    await eventually('all are answered, or ended to make room', () =>
      half.every(({ bytesRead, destroyed }) => bytesRead > 0 || destroyed),
    );
    await publish('a', '127.0.0.2');
    await publish('b');
    await eventually('the oldest ended', () => half.filter(({ destroyed }) => !destroyed).length <= 32);
    const metrics = await server.registry.metrics();
    assert.match(metrics, /causeway_rtmp_connections\{role="publishing"\} 2\n/);
    assert.match(metrics, /causeway_rtmp_ended_connections_total\{reason="crowded"\} (?:469|470)\n/);
  });

  test('one limit counts waiting connections of RTMP and RTMPS together', async (t) => {
    const { server } = await startTls(t, { limits: { maxWaiting: 10 } });
    const first = await hello();
    const waiting: Socket[] = [];
    for (let host = 2; host < 22; host++) {
      const from = `127.0.0.${host}`;
      const [port, said] = host % 2 === 0 ? [server.port, {}] : [server.tlsPort, { first }];
      waiting.push(...(await openSilent(t, port, 1, { from, ...said })));
    }
    await eventually('the oldest ended', () => waiting.filter(({ destroyed }) => !destroyed).length === 10);
    assert.deepEqual(
      waiting.map(({ destroyed }) => destroyed),
      waiting.map((_, index) => index < 10),
    );
  });
});

/** Both ports, and a certificate for one host. Nothing of a test may end as a failure of the server's own. */
async function startTls(t: TestContext, options: Parameters<typeof startTestRtmpServer>[0] = {}) {
  const authority = createAuthority(t);
  const context = createSecureContext(authority.issue([HOST]));
  const secureContexts = (name: string) => (name === HOST ? context : undefined);
  const tls = { listen: { host: '127.0.0.1', port: 0 }, secureContexts };
  const server = await startTestRtmpServer({ tls, ...options });
  t.after(async () => {
    await server[Symbol.asyncDispose]();
    assert.doesNotMatch(await server.registry.metrics(), /reason="failed"/);
  });
  const publish = async (name: string, from = '127.0.0.1') => {
    const at = { port: server.tlsPort, tls: { serverName: HOST, ca: authority.ca }, from };
    const client = await publishSample(server, name, at);
    t.after(() => client[Symbol.asyncDispose]());
  };
  return { server, authority, publish };
}

async function openTls(t: TestContext, port: number, ca: string): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: HOST, ca }).on('error', () => {});
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket.resume();
}

async function endedAs(server: TestRtmpServer, reason: string, count = 1): Promise<void> {
  const line = `causeway_rtmp_ended_connections_total{reason="${reason}"} ${count}\n`;
  await eventually(line, async () => (await server.registry.metrics()).includes(line));
}

function certificateOf({ socket }: RtmpClient): Buffer | undefined {
  return socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.raw : undefined;
}
