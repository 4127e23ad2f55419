/** What the embedded name server answers, asked by dig. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openGeoip } from '../../src/dns/geoip.ts';
import { parseClientNetwork } from '../../src/dns/location.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { PublishedPlace } from '../../src/model/edge-place.ts';
import { dig } from '../support/dns/dig.ts';
import { writeMmdb } from '../support/dns/mmdb.ts';
import { startNameServer } from '../support/dns/name-server.ts';
import { eventually } from '../support/eventually.ts';
import { siteSpec } from '../support/feed/feed.ts';
import { needs } from '../support/runner/needs.ts';
import { type Cleanup, temporaryFolder } from '../support/temporary.ts';

const DAY_MS = 24 * 3600 * 1000;

/** This machine's own edges are not probed, so that their addresses may be any. */
function place(addresses: readonly string[], more: Partial<PublishedPlace> = {}): PublishedPlace {
  return { addresses, port: 80, weight: 100, ...more };
}

const putSite = (id: number, name: string) =>
  ({ kind: 'site', key: name, op: 'put', body: siteSpec(id, name) }) as const;
const deleteSite = (name: string) => ({ kind: 'site', key: name, op: 'delete' }) as const;

async function startOne(t: Cleanup) {
  const running = await startNameServer(t, { places: { local: place(['192.0.2.1', '2001:db8::1']) } });
  running.apply([putSite(1, 'www.example.com'), putSite(2, '*.example.org')], ['www.example.com', '*.example.org']);
  return running;
}

describe('the names of domains', needs('dig'), () => {
  test('the CNAME of a domain leads to the addresses of the edges', async (t) => {
    const { port } = await startOne(t);
    const { status, flags, answer } = await dig(port, 'www.example.com.cdn.test', 'A');
    assert.deepEqual([status, flags.includes('aa'), flags.includes('ra')], ['NOERROR', true, false]);
    assert.deepEqual(answer, [
      'www.example.com.cdn.test. 300 IN CNAME default.r.test.',
      'default.r.test. 30 IN A 192.0.2.1',
    ]);
    assert.deepEqual(
      (await dig(port, 'WWW.Example.com.CDN.test', 'AAAA')).answer.at(-1),
      'default.r.test. 30 IN AAAA 2001:db8::1',
    );
    assert.equal((await dig(port, '_wildcard.example.org.cdn.test', 'CNAME')).answer.length, 1);
    assert.equal((await dig(port, '+tcp', 'default.r.test', 'A')).answer.length, 1);
  });

  test('names that do not exist are NXDOMAIN, and those between others have no records', async (t) => {
    const { port } = await startOne(t);
    const rows = [
      ['www.example.net.cdn.test', 'A', 'NXDOMAIN', 'cdn.test.'],
      ['a.www.example.com.cdn.test', 'A', 'NXDOMAIN', 'cdn.test.'],
      ['example.com.cdn.test', 'A', 'NOERROR', 'cdn.test.'],
      ['com.cdn.test', 'AAAA', 'NOERROR', 'cdn.test.'],
      ['cdn.test', 'MX', 'NOERROR', 'cdn.test.'],
      ['other.r.test', 'A', 'NXDOMAIN', 'r.test.'],
      ['default.r.test', 'TXT', 'NOERROR', 'r.test.'],
    ] as const;
    for (const [name, type, code, zone] of rows) {
      const { status, answer, authority } = await dig(port, name, type);
      assert.deepEqual([status, answer], [code, []], name);
      assert.match(authority[0] ?? '', new RegExp(`^${zone} 30 IN SOA ns1\\.dns\\.test\\. hostmaster\\.${zone}`), name);
    }
    const { answer, authority } = await dig(port, 'www.example.com.cdn.test', 'TXT');
    assert.deepEqual([answer.length, authority.length], [1, 1]);
  });

  test('the zones have SOA and NS records, and nothing is answered for other ones', async (t) => {
    const { port, server } = await startOne(t);
    const soa = (await dig(port, 'cdn.test', 'SOA')).answer[0] ?? '';
    assert.equal(Number(soa.split(' ')[6]), server.describe().revision);
    assert.deepEqual((await dig(port, 'r.test', 'NS')).answer, [
      'r.test. 3600 IN NS ns1.dns.test.',
      'r.test. 3600 IN NS ns2.dns.test.',
    ]);
    assert.equal((await dig(port, 'example.com', 'A')).status, 'REFUSED');
    assert.equal((await dig(port, 'version.bind', 'CH', 'TXT')).status, 'REFUSED');
    assert.match((await dig(port, 'cdn.test', 'AXFR')).text, /Transfer failed/);
    assert.deepEqual((await dig(port, '+notcp', 'default.r.test', 'ANY')).answer, [
      'default.r.test. 3600 IN HINFO "RFC8482" ""',
    ]);
  });

  test('the name of a deleted domain answers for a day more, also after a start', async (t) => {
    const running = await startOne(t);
    running.apply([deleteSite('www.example.com')], ['www.example.com']);
    running.now += DAY_MS - 1;
    assert.equal((await dig(running.port, 'www.example.com.cdn.test', 'A')).answer.length, 2);
    running.server.take(undefined); // as at a start
    assert.equal((await dig(running.port, 'www.example.com.cdn.test', 'A')).answer.length, 2);
    running.now += 1;
    assert.equal((await dig(running.port, 'www.example.com.cdn.test', 'A')).status, 'NXDOMAIN');
    running.apply([putSite(3, 'www.example.com')], ['www.example.com']);
    assert.equal((await dig(running.port, 'www.example.com.cdn.test', 'A')).answer.length, 2);
  });
});

describe('extensions', needs('dig'), () => {
  test('an answer says that it is for 1232 bytes, and a version of EDNS that is unknown is refused', async (t) => {
    const { port } = await startOne(t);
    assert.match((await dig(port, 'default.r.test', 'A')).text, /EDNS: version: 0, flags:; udp: 1232/);
    assert.doesNotMatch((await dig(port, '+noedns', 'default.r.test', 'A')).text, /EDNS/);
    assert.equal((await dig(port, '+edns=1', '+noednsneg', 'default.r.test', 'A')).status, 'BADVERS');
    assert.equal((await dig(port, '+opcode=NOTIFY', 'cdn.test', 'SOA')).status, 'NOTIMP');
  });

  test('a response that does not fit is truncated, and whole over TCP', async (t) => {
    const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example.com`;
    const running = await startNameServer(t, { places: { local: place(['192.0.2.1']) } });
    const labels = Array.from({ length: 8 }, (_, index) => `192.0.2.${index + 1}`);
    running.apply([putSite(1, long), { kind: 'edge_place', key: 'local', op: 'put', body: place(labels) }], [long]);
    const udp = await dig(running.port, '+noedns', '+ignore', `${long}.cdn.test`, 'A');
    const size = Number(/MSG SIZE +rcvd: (\d+)/.exec(udp.text)?.[1]);
    assert.ok(size <= 512);
    const tcp = await dig(running.port, '+tcp', `${long}.cdn.test`, 'A');
    assert.equal(tcp.answer.length, 5, 'the CNAME and four addresses');
  });

  test('a cookie of this server is given, and taken again', async (t) => {
    const { port } = await startOne(t);
    const [, cookie = ''] =
      /COOKIE: ([\da-f]{40})/.exec((await dig(port, '+cookie=0123456789abcdef', 'r.test', 'NS')).text) ?? [];
    assert.match(cookie, /^0123456789abcdef/);
    assert.match((await dig(port, `+cookie=${cookie}`, 'r.test', 'NS')).text, /\(good\)/);
  });
});

describe('locations', needs('dig'), () => {
  const PLACES = {
    fra1: place(['192.0.2.1'], { group: 'default', coordinates: { latitude: 50.11, longitude: 8.68 } }),
    sin1: place(['192.0.2.2'], { group: 'default', coordinates: { latitude: 1.35, longitude: 103.82 } }),
    lab1: place(['192.0.2.3'], { group: 'lab' }),
  };
  const scopeOf = (text: string) => /CLIENT-SUBNET: (\S+)/.exec(text)?.[1];

  test('a client gets the edges near its subnet, with the prefix that decided', async (t) => {
    const file = join(temporaryFolder(t), 'geo.mmdb');
    writeFileSync(file, writeMmdb({ '198.51.100.0/24': [52.52, 13.4], '203.0.112.0/20': [13.75, 100.5] }));
    const geoip = await openGeoip(file, createLogger({ level: 'silent', name: 'test' }));
    t.after(() => geoip[Symbol.asyncDispose]());
    const own = parseClientNetwork('10.20.0.0/16=lab');
    assert.ok(own);
    const running = await startNameServer(t, {
      places: PLACES,
      locator: { networks: [own], lookUp: geoip.lookUp },
    });
    running.apply(
      [
        putSite(1, 'www.example.com'),
        putSite(2, 'lab.example.com'),
        { kind: 'serving', key: '2', op: 'put', body: { groups: ['default', 'lab'] } },
      ],
      ['www.example.com', 'lab.example.com'],
    );
    // Nothing answers at these addresses, which is known after the first probes, and then ignored.
    await eventually(
      'edges were probed',
      async () => (await dig(running.port, 'default.r.test', 'A')).status === 'NOERROR',
    );
    const ask = async (subnet: string, name: string) => {
      const { answer, text } = await dig(running.port, `+subnet=${subnet}`, `${name}.cdn.test`, 'A');
      return [
        answer
          .slice(1)
          .map((line) => line.split(' ').at(-1))
          .sort(),
        scopeOf(text),
      ];
    };
    assert.deepEqual(await ask('198.51.100.0/24', 'www.example.com'), [['192.0.2.1'], '198.51.100.0/24/24']);
    assert.deepEqual(await ask('203.0.113.0/24', 'www.example.com'), [['192.0.2.2'], '203.0.113.0/24/20']);
    assert.deepEqual(await ask('10.20.30.0/24', 'lab.example.com'), [['192.0.2.3'], '10.20.30.0/24/16']);
    assert.deepEqual(await ask('10.20.30.0/24', 'www.example.com'), [['192.0.2.1', '192.0.2.2'], '10.20.30.0/24/16']);
    // Known networks begin after six bits: an answer for all clients would keep theirs from them.
    assert.deepEqual(await ask('192.0.2.0/24', 'www.example.com'), [['192.0.2.1', '192.0.2.2'], '192.0.2.0/24/6']);
    assert.deepEqual(await ask('0.0.0.0/0', 'www.example.com'), [['192.0.2.1', '192.0.2.2'], '0.0.0.0/0/0']);
    const { answer } = await dig(running.port, 'lab.example.com.cdn.test', 'CNAME');
    assert.match(answer[0] ?? '', /CNAME s-[\da-f]{12}\.r\.test\.$/);
  });
});
