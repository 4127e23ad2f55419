import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { clientNetwork, createAddressSet, parseCidr, plainAddress, unmapAddress } from './cidr.ts';

describe('parseCidr', () => {
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
    ['::ffff:10.0.0.0/104', { family: 'ipv6', address: '::ffff:10.0.0.0', prefix: 104 }],
    ['::ffff:10.0.0.0/96', { family: 'ipv6', address: '::ffff:10.0.0.0', prefix: 96 }],
    ['::ffff:10.0.0.0/95', undefined],
    ['::FFFF:a00:0/8', undefined],
    ['::ffff:0:0/0', undefined],
    ['::fffe:0:0/95', { family: 'ipv6', address: '::fffe:0:0', prefix: 95 }],
    ['example.com', undefined],
  ] as const;
  for (const [text, expected] of rows) {
    test(`'${text}' is ${expected === undefined ? 'no network' : 'a network'}`, () =>
      assert.deepEqual(parseCidr(text), expected));
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
    ['nonsense', false],
    ['', false],
  ] as const;
  for (const [address, expected] of rows) {
    test(`${expected ? 'has' : 'does not have'} '${address}'`, () => assert.equal(set.has(address), expected));
  }

  test('refuses what is no network', () => assert.throws(() => createAddressSet(['x']), RangeError));
});

test('an IPv4-mapped address is shown as IPv4, however it is written', () => {
  for (const mapped of ['::ffff:192.0.2.1', '::FFFF:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:C000:0201'])
    assert.equal(unmapAddress(mapped), '192.0.2.1', mapped);
  for (const other of ['::1', '192.0.2.1', '::192.0.2.1', '2001:DB8::1', '::ffff:c000:201%eth0', 'x:y', ''])
    assert.equal(unmapAddress(other), other);
});

test('an address has one plain text; what is none has no text', () => {
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
    ['unknown', 'unknown'],
  ] as const;
  for (const [address, network] of rows) assert.equal(clientNetwork(address), network, address);
});

for (const [family, addresses, bits] of [
  ['ipv4', fc.ipV4(), 32],
  ['ipv6', fc.ipV6().filter((text) => unmapAddress(text) === text), 128],
] as const) {
  test(`a set has what the engine's own list has, whatever the networks: ${family}`, () => {
    const networks = fc.array(fc.tuple(addresses, fc.integer({ min: 1, max: bits })), { maxLength: 8 });
    fc.assert(
      fc.property(networks, fc.array(addresses), (chosen, others) => {
        const list = new BlockList();
        for (const [address, prefix] of chosen) list.addSubnet(address, prefix, family);
        const set = createAddressSet(chosen.map(([address, prefix]) => `${address}/${prefix}`));
        for (const address of [...others, ...chosen.map(([first]) => first)]) {
          assert.equal(set.has(address), list.check(address, family), address);
        }
      }),
    );
  });
}
