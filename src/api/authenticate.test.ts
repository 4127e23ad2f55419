import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOf } from './authenticate.ts';

test('an IPv4 address counts for itself, an IPv6 address for its /64', () => {
  const rows: readonly [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:0001:2::', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['1::', '1:0:0:0'],
    ['', ''],
  ];
  for (const [address, expected] of rows) assert.equal(networkOf(address), expected, address);
});
