import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networksOf } from './knot/networks.ts';
import { createLocator, type LookUpPlace, parseClientNetwork } from './location.ts';

const PARIS = { latitude: 48.86, longitude: 2.35 };

function networks(...texts: readonly string[]) {
  return texts.map((text) => parseClientNetwork(text) ?? assert.fail(text));
}

function locatorOf(texts: readonly string[], lookUp: LookUpPlace = () => undefined) {
  return createLocator({ networks: networks(...texts), lookUp, fallback: undefined });
}

test('the longest network of the operator decides, and no prefix reaches into another one', () => {
  const locate = locatorOf(['10.0.0.0/8=eu', '10.20.0.0/16=lab', '2001:db8::/32=six']);
  const rows = [
    ['10.20.30.40', 'lab', 16],
    // 10.16.0.0/14 would have 10.20.0.0 beside it: 00010000 and 00010100 differ in the 14th bit.
    ['10.16.0.1', 'eu', 14],
    ['10.200.0.1', 'eu', 9],
    ['192.0.2.1', undefined, 1],
    ['2001:db8::1', 'six', 32],
    ['2001:db9::1', undefined, 32],
    ['8000::1', undefined, 1],
  ] as const;
  for (const [address, group, prefix] of rows) {
    const found = locate(address);
    assert.deepEqual([found.group, found.prefix], [group, prefix], address);
  }
});

test('one answer is for everybody where there are neither networks nor a database', () => {
  assert.deepEqual(locatorOf([])('192.0.2.1'), { source: 'default', prefix: 0 });
});

test('the prefix of the database counts also where it has no coordinates', () => {
  const locate = locatorOf(['198.51.100.128/25=lab'], (address) =>
    address.startsWith('198.') ? { coordinates: PARIS, prefix: 16 } : { prefix: 6 },
  );
  assert.deepEqual(locate('198.51.7.1'), { source: 'geoip', coordinates: PARIS, prefix: 18 });
  assert.deepEqual(locate('198.51.100.1'), { source: 'geoip', coordinates: PARIS, prefix: 25 });
  assert.deepEqual(locate('192.0.2.1'), { source: 'default', prefix: 6 });
});

test('networks for Knot are written once each, without bits beyond their prefix', () => {
  const written = networksOf(networks('10.20.30.40/20=lab', '4.0.0.0/6=eu', '192.0.2.1=one', '10.20.16.0/20=other'));
  assert.deepEqual(written.slice(81), ['10.20.16.0/20', '192.0.2.1/32']);
  assert.equal(new Set(written).size, written.length);
});
