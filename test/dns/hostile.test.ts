/** Packets of an attacker to the embedded name server. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { answerQuery } from '../../src/dns/answer.ts';
import { answerDatagram, startAnswerer } from '../../src/dns/answerer.ts';
import { createCookies } from '../../src/dns/cookies.ts';
import { parseQuery } from '../../src/dns/packet.ts';
import { QueryLimits } from '../../src/dns/query-limits.ts';
import { MAX_UDP_BYTES, writeResponse } from '../../src/dns/response.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { startNameServer } from '../support/dns/name-server.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

/** A query for default.r.test with EDNS, a subnet and a cookie. */
const QUERY = Buffer.from(
  [
    '1234 0100 0001 0000 0000 0001',
    '07 64656661756c74 01 72 04 74657374 00 0001 0001',
    '00 0029 1000 00000000 0017',
    '0008 0007 0001 1800 c63364',
    '000a 0008 0123456789abcdef',
  ]
    .join('')
    .replaceAll(' ', ''),
  'hex',
);

test('the query of this test is well-formed', () => {
  const parsed = parseQuery(QUERY);
  assert.equal(parsed.kind, 'query');
  if (parsed.kind !== 'query') return;
  const { name, type, edns } = parsed.query;
  assert.deepEqual(
    [name, type, edns?.udpBytes, edns?.subnet?.address, edns?.subnet?.prefix],
    ['default.r.test', 1, 4096, '198.51.100.0', 24],
  );
  assert.equal(edns?.cookie?.length, 8);
});

test('whatever is done to a query, it is answered, refused or dropped, and no answer over UDP is too long', async (t) => {
  const { server } = await startNameServer(t, {
    places: { local: { addresses: ['192.0.2.1'], port: 80, weight: 100 } },
  });
  const mutation = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), at: fc.nat(QUERY.length - 1), to: fc.nat(255) }),
    fc.record({ kind: fc.constant('cut' as const), at: fc.nat(QUERY.length), to: fc.constant(0) }),
    fc.record({ kind: fc.constant('add' as const), at: fc.nat(QUERY.length), to: fc.nat(255) }),
  );
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 6 }), (mutations) => {
      let packet = Buffer.from(QUERY);
      for (const { kind, at, to } of mutations) {
        if (kind === 'cut') packet = packet.subarray(0, at);
        else if (kind === 'add')
          packet = Buffer.concat([packet.subarray(0, at), Buffer.from([to]), packet.subarray(at)]);
        else if (at < packet.length) packet[at] = to;
      }
      const parsed = parseQuery(packet);
      if (parsed.kind !== 'query') return;
      const response = answerQuery(parsed.query, '203.0.113.1', server.view);
      const written = writeResponse(parsed.query, response, MAX_UDP_BYTES, parsed.query.edns?.cookie);
      assert.ok(written.length <= MAX_UDP_BYTES);
      assert.equal(written.readUInt16BE(0), packet.readUInt16BE(0));
    }),
    { numRuns: 10_000 },
  );
});

test('a response is not answered, so that two servers do not answer each other', () => {
  const response = Buffer.from(QUERY);
  response.writeUInt16BE(0x8180, 2);
  assert.equal(parseQuery(response).kind, 'ignored');
});

test('a query from port 0, which cannot be answered, is dropped', (t) => {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  const answers = { overUdp: () => assert.fail('the query was read') };
  answerDatagram(socket, answers, QUERY, { address: '127.0.0.1', port: 0 });
});

test('a query that meets a fault of the server is answered with SERVFAIL, and so is the next one', async (t) => {
  const port = await freePort();
  const answerer = await startAnswerer({
    listen: { host: '127.0.0.1', port },
    view: () => {
      throw new Error('a fault of this test');
    },
    clock: () => 0,
    monotonic: () => performance.now(),
    log: createLogger({ level: 'silent', name: 'test' }),
  });
  const socket = createSocket('udp4');
  t.after(async () => {
    socket.close();
    await answerer[Symbol.asyncDispose]();
  });
  for (const _ of [1, 2]) {
    socket.send(QUERY, port, '127.0.0.1');
    const [response] = (await once(socket, 'message')) as [Buffer];
    assert.equal(response.readUInt16BE(2) & 15, 2);
  }
});

test('no name is said to be absent before the first settings', async (t) => {
  const { server } = await startNameServer(t, { places: {} });
  const parsed = parseQuery(QUERY);
  assert.ok(parsed.kind === 'query');
  const rcodeOf = (name: string, revision: number) => {
    const view = { ...server.view, revision };
    return answerQuery({ ...parsed.query, name }, '203.0.113.1', view).rcode;
  };
  assert.deepEqual(
    ['www.example.com.cdn.test', 'other.r.test', 'example.com'].map((name) => [rcodeOf(name, 0), rcodeOf(name, 1)]),
    [
      [2, 3],
      [2, 3],
      [5, 5],
    ],
  );
});

test('names of domains are found where the zone of the CNAMEs lies in the routing zone', async (t) => {
  const { server } = await startNameServer(t, { places: {} });
  const parsed = parseQuery(QUERY);
  assert.ok(parsed.kind === 'query');
  const view = { ...server.view, zones: { ...server.view.zones, suffix: 'cdn.r.test' } };
  const { authorities } = answerQuery({ ...parsed.query, name: 'www.example.com.cdn.r.test' }, '203.0.113.1', view);
  assert.equal(authorities[0]?.name, 'cdn.r.test');
});

const WRONG: readonly (readonly [title: string, option: string])[] = [
  ['a family that is none', '0008 0007 0003 1800 c63364'],
  ['a prefix that is too long', '0008 0008 0001 2100 c6336400'],
  ['a scope', '0008 0007 0001 1818 c63364'],
  ['too few bytes', '0008 0006 0001 1800 c633'],
  ['bits beyond the prefix', '0008 0007 0001 1700 c63365'],
  ['a cookie of another length', '000a 0009 0123456789abcdef01'],
];
for (const [title, option] of WRONG)
  test(`an option with ${title} is a format error`, () => {
    const options = Buffer.from(option.replaceAll(' ', ''), 'hex');
    const head = QUERY.subarray(0, QUERY.length - 25);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(options.length);
    const parsed = parseQuery(Buffer.concat([head, length, options]));
    assert.deepEqual([parsed.kind, 'rcode' in parsed && parsed.rcode], ['bad', 1]);
  });

test('an address that sends too much has every second query asked to come over TCP, and the others are dropped', () => {
  const limits = new QueryLimits();
  const leaves = Array.from({ length: 60 }, () => limits.take('203.0.113.9', 0));
  assert.equal(leaves.filter((leave) => leave === 'answer').length, 40);
  assert.equal(leaves.filter((leave) => leave === 'truncate').length, 10);
  assert.equal(limits.take('203.0.113.10', 0), 'answer');
  assert.equal(limits.take('203.0.113.9', 1000), 'answer');
  const own = Array.from({ length: 1000 }, () => limits.take('127.0.0.1', 0));
  assert.ok(own.every((leave) => leave === 'answer'));
});

test('a cookie is of one client, one server and one hour', () => {
  const now = 1_800_000_000_000;
  const [cookies, others] = [createCookies(Buffer.alloc(32, 1)), createCookies(Buffer.alloc(32, 2))];
  const cookie = cookies.make(Buffer.from('0123456789abcdef', 'hex'), '203.0.113.9', now);
  assert.equal(cookies.isOurs(cookie, '203.0.113.9', now + 3_600_000), true);
  assert.equal(cookies.isOurs(cookie, '203.0.113.9', now + 3_601_000), false);
  assert.equal(cookies.isOurs(cookie, '203.0.113.9', now - 301_000), false);
  assert.equal(cookies.isOurs(cookie, '203.0.113.10', now), false);
  assert.equal(others.isOurs(cookie, '203.0.113.9', now), false);
  assert.equal(cookies.isOurs(cookie.subarray(0, 8), '203.0.113.9', now), false);
});

test('connections that send nothing, or too much, do not keep others out', async (t) => {
  const { port } = await startNameServer(t, { places: { local: { addresses: ['192.0.2.1'], port: 80, weight: 100 } } });
  const idle = Array.from({ length: 300 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  t.after(() => {
    for (const socket of idle) socket.destroy();
  });
  await eventually(
    'the oldest connections give way',
    () => idle.filter((socket) => socket.destroyed || socket.readableEnded).length >= 44,
  );
  const large = connect(port, '127.0.0.1').on('error', () => {});
  large.write(Buffer.from([0xff, 0xff, 0, 0]));
  await once(large, 'close');
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  const framed = Buffer.concat([Buffer.from([0, QUERY.length]), QUERY]);
  socket.write(Buffer.concat([framed, framed.subarray(0, 10)]));
  const [first] = (await once(socket, 'data')) as [Buffer];
  assert.equal(first.readUInt16BE(2), 0x1234);
  socket.write(framed.subarray(10));
  const [second] = (await once(socket, 'data')) as [Buffer];
  assert.equal(second.readUInt16BE(2), 0x1234);
});
