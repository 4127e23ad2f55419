/** The fleet listener and bad input: what it refuses, what it bounds, and that it goes on. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { ENROL_PATH } from '#fleet/messages.ts';
import { makeCsr } from '#model/csr.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { ask } from '../support/fleet/ask.ts';
import { createFleet } from '../support/fleet/fleet.ts';
import { fieldsOf, startFuzzWorld } from '../support/fleet/fuzz-world.ts';
import { type Mutated, sendMutations, sendNoise } from '../support/fleet/mutations.ts';

test('mutated messages and noise are refused, and the listener goes on', async (t) => {
  const w = await startFuzzWorld(t, await newSqlite(t));
  const { fleet, identity } = w;
  const seen = await sendMutations(w.send, w.messages, { runs: 100, seed: 42, atOnce: 4 });
  for (const [path, statuses] of Object.entries(seen)) assert.ok((statuses[400] ?? 0) > 10, `${path} ${statuses[400]}`);
  assert.deepEqual(w.failures, []);
  const overTls = ({ method, path, body }: Mutated) =>
    ask(fleet.control, identity, { method, path, body, headers: fieldsOf(identity) }).then(({ status }) => status);
  await sendMutations(
    overTls,
    w.messages.filter(({ method }) => method === 'POST'),
    { runs: 5, seed: 42 },
  );
  await sendNoise(fleet.listener.port, 50, 42);
  assert.equal((await ask(fleet.control, identity, { headers: fieldsOf(identity) })).status, 404);
});

test('clients that speak an older TLS are refused', async (t) => {
  const fleet = await createFleet(t, await newSqlite(t));
  const { identity } = await fleet.enrol('fra1');
  const { port } = new URL(fleet.control);
  const socket = connectTls({ ...identity.tls(), minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', port: Number(port) });
  const [error] = await once(socket, 'error');
  assert.match(String(error), /protocol version/i);
});

test('the oldest handshake is cut when there are more than 1,000', async (t) => {
  const fleet = await createFleet(t, await newSqlite(t));
  const { identity } = await fleet.enrol('fra1');
  const { port } = new URL(fleet.control);
  const waiting: Socket[] = [];
  t.after(() => {
    for (const socket of waiting) socket.destroy();
  });
  for (let n = 0; n < 1001; n += 1) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {}); // shows as closed
    await once(socket, 'connect');
    waiting.push(socket.resume());
  }
  await eventually('one is cut', () => waiting.some(({ destroyed }) => destroyed));
  assert.equal((await ask(fleet.control, identity)).status, 200);
});

test('an edge that sends malformed messages is counted, and shut out after a hundred', async (t) => {
  let steady = 0;
  const fleet = await createFleet(t, await newSqlite(t), {
    steadyClock: () => steady,
    onRequest: (_, response) => void response.writeHead(400).end('feed: malformed\n'),
  });
  const [{ identity }, { identity: other }] = [await fleet.enrol('fra1'), await fleet.enrol('fra2')];
  for (let n = 0; n < 100; n += 1) assert.equal((await ask(fleet.control, identity)).status, 400);
  await ask(fleet.control, identity).catch(() => undefined); // its connection may be cut before the answer is read
  await eventually('it is shut out', async () => (await ask(fleet.control, identity)).status === 429);
  assert.equal(fleet.listener.counts.badMessages.get('fra1'), 101);
  assert.equal((await ask(fleet.control, other)).status, 400);
  steady += 61_000;
  assert.equal((await ask(fleet.control, identity)).status, 400);
});

test('the address of a client is the one that a PROXY header announces', async (t) => {
  const fleet = await createFleet(t, await newSqlite(t), { proxyProtocol: 'required', trustedProxies: ['127.0.0.1'] });
  const { hostname: host, port } = new URL(fleet.control);
  const token = await fleet.createToken({ addresses: ['192.0.2.7'] });
  const csr = makeCsr('', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey).toString('base64');
  const seal = Buffer.alloc(32, 1).toString('base64');
  const body = JSON.stringify({ token, csr, seal, machine: 'a'.repeat(64), build: 'test' });
  for (const [client, expected] of [
    ['192.0.2.8', /^HTTP\/1.1 403 /],
    ['192.0.2.7', /^HTTP\/1.1 200 /],
  ] as const) {
    const raw = connect(Number(port), host);
    t.after(() => raw.destroy());
    raw.write(`PROXY TCP4 ${client} 127.0.0.1 4000 8710\r\n`);
    const socket = connectTls({ socket: raw, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.write(`POST ${ENROL_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), expected);
  }
});

test('an edge with too many connections loses its oldest one, and others keep theirs', async (t) => {
  const fleet = await createFleet(t, await newSqlite(t));
  const [{ identity }, { identity: other }] = [await fleet.enrol('fra1'), await fleet.enrol('fra2')];
  const { port } = new URL(fleet.control);
  const open = async (who: { tls(): object }) => {
    const socket = connectTls({ ...who.tls(), port: Number(port) });
    t.after(() => socket.destroy());
    socket.on('error', () => {}); // shows as closed
    await once(socket, 'secureConnect');
    return socket.resume();
  };
  const kept = await open(other);
  const sockets: Socket[] = [];
  for (let n = 0; n < 34; n += 1) sockets.push(await open(identity));
  await eventually('two are cut', () => sockets.filter(({ destroyed }) => destroyed).length === 2);
  assert.deepEqual([sockets[0]?.destroyed, sockets[1]?.destroyed, kept.destroyed], [true, true, false]);
  assert.equal(fleet.listener.connections, 33);
});

test('clients without a certificate share a small number of connections', async (t) => {
  const fleet = await createFleet(t, await newSqlite(t));
  const { identity } = await fleet.enrol('fra1');
  const { port } = new URL(fleet.control);
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let n = 0; n < 202; n += 1) {
    const socket = connectTls({ rejectUnauthorized: false, port: Number(port) });
    socket.on('error', () => {}); // shows as closed
    sockets.push(socket);
    await once(socket, 'secureConnect');
    socket.resume();
  }
  await eventually('the oldest are cut', () => sockets.filter(({ destroyed }) => destroyed).length === 2);
  assert.deepEqual([sockets[0]?.destroyed, sockets[1]?.destroyed], [true, true]);
  assert.equal((await ask(fleet.control, identity)).status, 200);
});
