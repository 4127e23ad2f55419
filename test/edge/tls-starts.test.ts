/** What a connection to the port for HTTPS may begin with, and what the client is told. docs/decisions/0432 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { helloOf } from '../support/edge/client-hello.ts';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

/** A fatal alert, or else the type of the first record, or the first line of HTTP. */
function toldIn(answer: string): string {
  if (answer.startsWith('HTTP/')) return answer.split('\r\n', 1).join('');
  const [type, , , , , level, description] = Buffer.from(answer, 'latin1');
  return type === 21 && level === 2 ? `alert ${description}` : `record ${type}`;
}

const hex = (text: string) => Buffer.from(text, 'hex').toString('latin1');

describe('the beginning of a connection to the port for HTTPS', needs('openssl', 'curl'), () => {
  test('the beginning of a connection to the HTTPS port gets its alert', async (t) => {
    const edge = await startHttpsEdge(t);
    edge.putTls(SITE_HOST, { minVersion: '1.3' });
    const hello = async (options: Parameters<typeof helloOf>[0]) => (await helloOf(options)).toString('latin1');
    const whole = await hello({ servername: SITE_HOST });
    const nameless13 = await hello({ servername: '', minVersion: 'TLSv1.3' });
    const nameless12 = await hello({ servername: '', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' });
    const only12 = await hello({ servername: SITE_HOST, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' });
    const rows: readonly (readonly [what: string, bytes: string, told: string])[] = [
      ['no name by TLS 1.3', nameless13, 'alert 109'],
      ['no name by TLS 1.2', nameless12, 'alert 112'],
      ['an unknown name', await hello({ servername: 'unknown.example.net' }), 'alert 112'],
      ['a version that the site does not have', only12, 'alert 70'],
      ['a length past the end of the hello', `${whole.slice(0, 43)}\xff${whole.slice(44)}`, 'alert 50'],
      ['application data', hex('1703030004deadbeef'), 'alert 10'],
      ['another message', hex('160301000402000000'), 'alert 10'],
      ['a record that is too large', hex('1603014001'), 'alert 22'],
      ['a message that is too large', hex('160301000401ffffff'), 'alert 50'],
      ['SSL 2', hex('802e0103010015000000100100800200800300800400'), 'alert 70'],
      ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n', 'alert 10'],
    ];
    for (const [what, bytes, told] of rows) {
      const client = connectRaw(edge.httpsPort, bytes);
      await eventually(what, () => Promise.resolve(client.text() !== ''));
      assert.equal(toldIn(client.text()), told, what);
      client.socket.end();
      await client.closed;
    }
    const ended = connectRaw(edge.httpsPort, hex('15030300020228'));
    assert.equal(await ended.closed, '', 'an alert gets none');
    assert.equal((await edge.curl(`https://${SITE_HOST}/`)).status, 200);
  });

  test('the beginning of a connection may arrive in any number of segments and records', async (t) => {
    const edge = await startHttpsEdge(t);
    const hello = await helloOf({ servername: SITE_HOST });
    const message = [...hello.subarray(5)];
    const inRecords = Buffer.concat(message.map((byte) => Buffer.from([22, 3, 1, 0, 1, byte])));
    for (const bytes of [hello, inRecords]) {
      const socket = connect({ port: edge.httpsPort, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      const answer = once(socket, 'data');
      for (const byte of bytes) await new Promise<void>((sent) => socket.write(Buffer.of(byte), () => sent()));
      // `as`: what the event carries.
      const [first] = (await answer) as [Buffer];
      assert.equal(first[0], 22, 'the hello of the server');
      socket.destroy();
    }
  });

  test('plain HTTP to the HTTPS port is answered in clear, without repeating its bytes', async (t) => {
    const edge = await startHttpsEdge(t);
    const refused = connectRaw(edge.httpsPort, 'GET /secret?<b> HTTP/1.1\r\nHost: secret.example.com\r\n\r\n');
    await eventually('it is answered', () => Promise.resolve(refused.text().endsWith('URL.\n')));
    refused.socket.end();
    const answer = await refused.closed;
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\nContent-Type: text\/plain; charset=utf-8\r\n/);
    assert.match(answer, /\r\nConnection: close\r\nX-Cache: ERROR plainHttp\r\n\r\n/);
    assert.match(
      answer,
      /\r\n\r\n400 Bad Request\nplainHttp\nThis port accepts HTTPS only, .* Use an https:\/\/ URL\.\n$/,
    );
    assert.doesNotMatch(answer, /secret/);
    // What the client has still to send does not take the answer away.
    const large = connectRaw(edge.httpsPort, `POST / HTTP/1.1\r\nHost: x\r\n\r\n${'x'.repeat(1024 * 1024)}`);
    await eventually('it is answered', () => Promise.resolve(large.text().includes('https://')));
    large.socket.end();
    assert.match(await large.closed, /^HTTP\/1\.1 400 /);
    const slow = connectRaw(edge.httpsPort, 'P');
    slow.socket.write('UT /');
    await eventually('it is answered', () => Promise.resolve(slow.text().includes('https://')));
    slow.socket.end();
    assert.match(await slow.closed, /^HTTP\/1\.1 400 /);
    assert.equal((await edge.handshakes())['plainHttp'], 3);
    await eventually('each has its line', () =>
      Promise.resolve(edge.log.filter((line) => line.result === 'NONE/400').length === 3),
    );
  });

  test('a beginning damaged in any place ends the connection, never the worker', async (t) => {
    const edge = await startHttpsEdge(t, undefined, { limits: { handshakeMs: 1_000 } });
    const hello = await helloOf({ servername: SITE_HOST });
    const random = pseudoRandom(15);
    const all = Array.from({ length: 300 }, (_, n) => {
      const bytes = Buffer.from(hello);
      for (let hits = 0; hits < 1 + (n % 4); hits++) bytes[random(bytes.length)] = random(256);
      const client = connectRaw(edge.httpsPort);
      client.socket.write(bytes.subarray(0, n % 3 === 0 ? random(bytes.length) : bytes.length));
      client.socket.once('data', () => client.socket.end());
      return client.closed;
    });
    const told = new Set((await Promise.all(all)).map(toldIn));
    for (const expected of ['record 22', 'alert 50', 'alert 112']) assert.ok(told.has(expected), [...told].join(', '));
    assert.equal((await edge.curl(`https://${SITE_HOST}/`)).status, 200);
  });
});

/** The same numbers each time, below `below`. */
function pseudoRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
