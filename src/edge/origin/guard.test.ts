import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createGuard } from './guard.ts';

describe('the guard without settings', () => {
  const guard = createGuard({ allow: [], refuse: [] });
  const permitted = [
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '172.32.0.1',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00::1',
  ];
  for (const address of permitted) {
    test(`the guard without settings permits ${address}`, () => assert.equal(guard.permits(address, 80), true));
  }

  const refused = [
    ['0.0.0.0', 'this network'],
    ['0.1.2.3', 'this network'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.169.254', 'link-local: where clouds keep credentials'],
    ['172.16.0.1', 'private'],
    ['192.0.0.1', 'protocol assignments'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', '6to4 relays'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'benchmarking'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback, spelt out'],
    ['::ffff:127.0.0.1', 'v4-mapped'],
    ['::ffff:8.8.8.8', 'v4-mapped, whatever is inside'],
    ['::ffff:7f00:1', 'v4-mapped in hexadecimal'],
    ['::127.0.0.1', 'v4-compatible'],
    ['64:ff9b::7f00:1', 'NAT64'],
    ['64:ff9b:1::1', 'local NAT64'],
    ['100::1', 'discard'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::1', '6to4'],
    ['3fff::1', 'documentation'],
    ['4000::1', 'not allocated'],
    ['5f00::1', 'segment routing'],
    ['fc00::1', 'unique local'],
    ['fd12::1', 'unique local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%lo', 'with a zone'],
    ['ff02::1', 'multicast'],
    ['localhost', 'no address'],
    ['', 'no address'],
  ] as const;
  for (const [address, why] of refused) {
    test(`the guard without settings refuses '${address}' (${why})`, () =>
      assert.equal(guard.permits(address, 80), false));
  }
});

describe('the guard with opened ranges', () => {
  const guard = createGuard({
    allow: ['127.0.0.0/8', '::1', '10.0.0.0/8', '0.0.0.0/0'],
    refuse: [
      { host: '127.0.0.1', port: 8700 },
      { host: '::', port: 8080 },
      { host: '::1', port: 9000 },
      { host: 'db.internal', port: 5432 },
      { host: '::ffff:10.0.0.9', port: 1000 },
    ],
    localAddresses: () => ['10.0.0.5', 'fe80::1', '8.8.4.4'],
  });
  const rows = [
    ['127.0.0.1', 80, true, 'the range is open'],
    ['::1', 80, true, 'the address is open'],
    ['::2', 80, false, 'its neighbour is not'],
    ['127.0.0.1', 8700, false, 'our own listener'],
    ['127.0.0.2', 8700, true, 'a listener on one address is not on another'],
    ['0.0.0.0', 8700, false, 'the unspecified address reaches the loopback'],
    ['::ffff:127.0.0.1', 80, false, 'mapped addresses stay refused'],
    ['127.0.0.1', 8080, false, 'a wildcard listener is on the loopback'],
    ['127.9.9.9', 8080, false, 'a wildcard listener is on all of the loopback'],
    ['::1', 8080, false, 'a wildcard listener is on both families'],
    ['10.0.0.5', 8080, false, 'a wildcard listener is on every interface'],
    ['8.8.4.4', 8080, false, 'also on a public address of this machine'],
    ['10.0.0.6', 8080, true, 'another machine may use the same port'],
    ['::1', 9000, false, 'our own listener, IPv6'],
    ['10.0.0.6', 5432, false, 'a database known by name may be at any internal address'],
    ['8.8.8.8', 5432, true, 'not at a public one'],
    ['10.0.0.9', 1000, false, 'a refused address may be written as mapped'],
  ] as const;
  for (const [address, port, expected, why] of rows) {
    test(`the guard with opened ranges ${expected ? 'permits' : 'refuses'} [${address}]:${port}: ${why}`, () =>
      assert.equal(guard.permits(address, port), expected));
  }
});

test('the addresses of this machine are read when a decision is made', () => {
  const guard = createGuard({ allow: ['10.0.0.0/8'], refuse: [{ host: '0.0.0.0', port: 80 }] });
  assert.equal(guard.permits('127.0.0.1', 80), false);
  assert.equal(guard.permits('10.255.255.254', 80), true);
});

test('a wildcard listener is recognised however it is written', () => {
  for (const host of ['::', '0::', '0:0:0:0:0:0:0:0', '::0.0.0.0', '::ffff:0.0.0.0', '0.0.0.0']) {
    const guard = createGuard({ allow: ['127.0.0.0/8'], refuse: [{ host, port: 80 }], localAddresses: () => [] });
    assert.equal(guard.permits('127.0.0.1', 80), false, host);
    assert.equal(guard.permits('127.0.0.1', 81), true, host);
  }
});
