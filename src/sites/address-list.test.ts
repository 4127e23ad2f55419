import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAddressEntry } from './address-list.ts';

describe('an entry of an IP list', () => {
  const rows: readonly (readonly [text: string, entry: string | undefined])[] = [
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['192.0.2.1/32', '192.0.2.1'],
    ['192.0.2.77/24', '192.0.2.0/24'],
    ['192.0.2.77/0', '0.0.0.0/0'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:db8:0:0:0:0:0:1/128', '2001:db8::1'],
    ['2001:db8::ffff/32', '2001:db8::/32'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
    ['::/0', '::/0'],
    ['::1', '::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['::ffff:192.0.2.77/120', '192.0.2.0/24'],
    ['::ffff:192.0.2.77/96', '0.0.0.0/0'],
    ['::ffff:192.0.2.77/90', undefined],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'],
    ['192.0.2.1/33', undefined],
    ['192.0.2.1/', undefined],
    ['192.0.2.1-192.0.2.9', undefined],
    ['192.0.2', undefined],
    ['192.0.2.01', undefined],
    ['fe80::1%eth0', undefined],
    ['example.com', undefined],
    ['', undefined],
  ];
  for (const [text, entry] of rows) {
    test(`"${text}" ${entry === undefined ? 'is refused' : `is ${entry}`}`, () => {
      const parsed = parseAddressEntry(text);
      assert.equal(parsed.kind === 'entry' ? parsed.entry : undefined, entry);
    });
  }
});
