import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseOwnAddresses } from './own-addresses.ts';

const ROWS: readonly (readonly [title: string, host: string, found: readonly string[], chosen: readonly string[]])[] = [
  [
    'public addresses go before private ones',
    '::',
    ['10.0.0.5', '203.0.113.5', '2001:db8::5'],
    ['203.0.113.5', '2001:db8::5'],
  ],
  ['private ones serve where there are no others', '::', ['127.0.0.1', '10.0.0.5', 'fe80::1'], ['10.0.0.5']],
  ['a machine without a network is its loopback address', '::', ['127.0.0.1', '::1'], ['127.0.0.1']],
  ['an edge that listens on one address is reached there alone', '192.0.2.9', ['203.0.113.5'], ['192.0.2.9']],
  [
    'an edge that listens on IPv4 alone has no IPv6 addresses',
    '0.0.0.0',
    ['203.0.113.5', '2001:db8::5'],
    ['203.0.113.5'],
  ],
];

for (const [title, host, found, chosen] of ROWS)
  test(title, () => assert.deepEqual(chooseOwnAddresses(host, found), chosen));
