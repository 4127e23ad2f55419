import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddressSet } from './cidr.ts';
import { clientAddress } from './client-address.ts';

const TRUSTED = createAddressSet(['127.0.0.0/8', '10.0.0.0/8', '2001:db8:1::/48']);
const PROXY = '127.0.0.1';

const ROWS: readonly (readonly [what: string, header: string | undefined, expected: string])[] = [
  ['no header', undefined, PROXY],
  ['one address', '192.0.2.1', '192.0.2.1'],
  ['the last that is not trusted', '198.51.100.1, 192.0.2.1 ,10.0.0.1', '192.0.2.1'],
  ['all trusted: the first', '10.0.0.2, 10.0.0.1', '10.0.0.2'],
  ['a port', '192.0.2.1:4711', '192.0.2.1'],
  ['IPv6', '2001:DB8::0:1', '2001:db8::1'],
  ['IPv6 in brackets', '[2001:db8::1]', '2001:db8::1'],
  ['IPv6 with a port', '[2001:db8::1]:4711', '2001:db8::1'],
  ['IPv4 inside IPv6', '::ffff:909:801', '9.9.8.1'],
  ['a trusted proxy of IPv6', '192.0.2.1, 2001:db8:1::9', '192.0.2.1'],
  ['a trusted proxy written as IPv6', '192.0.2.1, ::ffff:10.0.0.1', '192.0.2.1'],
  ['garbage', 'garbage17', PROXY],
  ['garbage before a client', 'garbage17, 192.0.2.1', '192.0.2.1'],
  ['garbage before a trusted proxy', 'garbage17, 10.0.0.1', PROXY],
  ['nothing', '', PROXY],
  ['commas', ',,,', PROXY],
  ['no octet', '999.1.1.1', PROXY],
  ['a port that is none', '192.0.2.1:x', PROXY],
  ['IPv4 in brackets', '[192.0.2.1]', PROXY],
  ['a zone', 'fe80::1%eth0', PROXY],
  ['unknown', 'unknown', PROXY],
];

test("a trusted proxy's word is parsed strictly; an invalid address counts as the connection's own", () => {
  for (const [what, header, expected] of ROWS) assert.equal(clientAddress(PROXY, header, TRUSTED), expected, what);
  assert.equal(clientAddress('192.0.2.9', '192.0.2.1', TRUSTED), '192.0.2.9', 'nobody else is believed');
});
