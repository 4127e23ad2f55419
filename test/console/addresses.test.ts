/** The console's reading of address lists is that of the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_LISTED_ADDRESSES } from '#model/limits.ts';
import { parseAddressEntry } from '#sites/address-list.ts';
import { isAddressOrNetwork, MAX_ADDRESSES } from '../../console/pages/address-lists/addresses.ts';

const SAMPLES = [
  ...[
    '192.0.2.1',
    '0.0.0.0/0',
    '192.0.2.255/24',
    '255.255.255.255/32',
    '192.0.2.1/33',
    '192.0.2',
    '192.0.2.01',
    '1.2.3.4.5',
  ],
  ...[
    '192.0.2.1/',
    '192.0.2.1/-1',
    '192.0.2.1/8/8',
    '256.0.0.1',
    '192.0.2.1:80',
    '0x7f.0.0.1',
    '1',
    'example.com',
    '*',
  ],
  ...['::', '::1', '2001:db8::/32', '2001:DB8::1', '::ffff:192.0.2.1', '::ffff:192.0.2.0/120', '2001:db8::/129', ':::'],
  ...[
    '2001:db8::1::2',
    'fe80::1%eth0',
    '[::1]',
    '2001:db8',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7:8:9',
    'g::1',
    '::1/',
    '1:2',
  ],
];

test('the console takes the addresses that the service takes', () => {
  for (const text of SAMPLES)
    assert.equal(isAddressOrNetwork(text), parseAddressEntry(text).kind === 'entry', JSON.stringify(text));
});

test('a list is as long as the service lets it be', () => {
  assert.equal(MAX_ADDRESSES, MAX_LISTED_ADDRESSES);
});
