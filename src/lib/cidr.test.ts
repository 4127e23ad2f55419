import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clientNetwork, createAddressSet, parseNetwork, plainAddress, unmapAddress } from './cidr.ts';

describe('parseNetwork', () => {
  const rows = [
    ['10.0.0.0/8', { family: 'ipv4', address: '10.0.0.0', prefix: 8 }],
    ['10.1.2.3/8', { family: 'ipv4', address: '10.1.2.3', prefix: 8 }],
    ['192.0.2.1', { family: 'ipv4', address: '192.0.2.1', prefix: 32 }],
    ['::/0', { family: 'ipv6', address: '::', prefix: 0 }],
    ['2001:db8::1', { family: 'ipv6', address: '2001:db8::1', prefix: 128 }],
    ['', undefined],
    ['10.0.0.0/33', undefined],
    ['10.0.0.0/', undefined],
    ['10.0.0.0/-1', undefined],
    ['10.0.0.0/8/8', undefined],
    ['10.0.0/8', undefined],
    ['010.0.0.0/8', undefined],
    ['fe80::1%eth0', undefined],
    ['::1/129', undefined],
    ['::ffff:10.0.0.0/104', { family: 'ipv4', address: '10.0.0.0', prefix: 8 }],
    ['::ffff:10.0.0.0/96', { family: 'ipv4', address: '10.0.0.0', prefix: 0 }],
    ['::ffff:10.0.0.0/95', undefined],
    ['::FFFF:a00:0/8', undefined],
    ['::ffff:0:0/0', undefined],
    ['::fffe:0:0/95', { family: 'ipv6', address: '::fffe:0:0', prefix: 95 }],
    ['example.com', undefined],
  ] as const;
  for (const [text, expected] of rows) {
    test(`'${text}' is ${expected === undefined ? 'no network' : 'a network'}`, () =>
      assert.deepEqual(parseNetwork(text), expected));
  }
});

describe('an address set', () => {
  const set = createAddressSet(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']);
  const rows = [
    ['10.255.0.1', true],
    ['11.0.0.1', false],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['::ffff:10.0.0.1', true],
    ['::ffff:a00:1', true],
    ['2001:db8:1::', true],
    ['2001:db9::', false],
    ['::10.0.0.1', false],
    ['::ffff:0:10.0.0.1', false],
    ['010.0.0.1', false],
    ['10.1', false],
    ['2001:db8::1%eth0', false],
    ['nonsense', false],
    ['', false],
  ] as const;
  for (const [address, expected] of rows) {
    test(`an address set ${expected ? 'has' : 'does not have'} '${address}'`, () =>
      assert.equal(set.has(address), expected));
  }

  test('a network of all IPv6 addresses has no IPv4 address', () => {
    assert.equal(createAddressSet(['::/0']).has('192.0.2.1'), false);
    assert.equal(createAddressSet(['::/0']).has('::ffff:192.0.2.1'), false);
    assert.equal(createAddressSet(['::/0']).has('::192.0.2.1'), true);
    assert.equal(createAddressSet(['0.0.0.0/0']).has('::1'), false);
  });

  test('an address set refuses a text that is not a network', () =>
    assert.throws(() => createAddressSet(['x']), RangeError));
});

test('an IPv4-mapped address is shown as IPv4, however it is written', () => {
  for (const mapped of ['::ffff:192.0.2.1', '::FFFF:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:C000:0201'])
    assert.equal(unmapAddress(mapped), '192.0.2.1', mapped);
  for (const other of ['::1', '192.0.2.1', '::192.0.2.1', '2001:DB8::1', '::ffff:c000:201%eth0', 'x:y', ''])
    assert.equal(unmapAddress(other), other);
});

test('an address has one plain text; an invalid one has no text', () => {
  const rows = [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['::ffff:909:801', '9.9.8.1'],
    ['fe80::1%eth0', undefined],
    ['192.0.2.01', undefined],
    ['192.0.2.1:80', undefined],
    ['[::1]', undefined],
    ['garbage', undefined],
    ['', undefined],
  ] as const;
  for (const [text, expected] of rows) assert.equal(plainAddress(text), expected, text);
});

test('one client is an IPv4 address, or the /64 of an IPv6 address', () => {
  const rows = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8::/64'],
    ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
    ['::1', '::/64'],
    ['::', '::/64'],
    ['1::', '1::/64'],
    ['::192.0.2.1', '::/64'],
    ['', ''],
    ['unknown', 'unknown'],
  ] as const;
  for (const [address, network] of rows) assert.equal(clientNetwork(address), network, address);
});
