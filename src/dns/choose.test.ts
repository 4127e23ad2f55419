import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { candidatesOf, chooseAddresses, distanceKm, type EdgeVerdict, usableOf } from './choose.ts';
import type { Location } from './location.ts';
import type { RoutedEdge } from './routing-table.ts';

const FRANKFURT = { latitude: 50.11, longitude: 8.68 };
const PARIS = { latitude: 48.86, longitude: 2.35 };
const TOKYO = { latitude: 35.68, longitude: 139.69 };
const NOWHERE: Location = { source: 'default', prefix: 0 };

function edge(n: number, more: Partial<RoutedEdge> = {}): RoutedEdge {
  const address = `192.0.2.${n}`;
  return { edge: `edge${n}`, addresses: [address], port: 80, weight: 100, isDraining: false, ...more };
}

function choose(edges: readonly RoutedEdge[], client: string, location = NOWHERE): readonly string[] {
  return chooseAddresses(
    candidatesOf(edges, 4, () => 'up'),
    client,
    location,
  ).addresses;
}

describe('distance', () => {
  test('the distance of two places is that of a great circle', () => {
    assert.ok(Math.abs(distanceKm(FRANKFURT, PARIS) - 478) < 10);
    assert.ok(Math.abs(distanceKm(FRANKFURT, TOKYO) - 9350) < 60);
    assert.equal(Math.round(distanceKm({ latitude: 0, longitude: 179 }, { latitude: 0, longitude: -179 })), 222);
  });
});

describe('near edges', () => {
  const edges = [edge(1, { coordinates: FRANKFURT }), edge(2, { coordinates: PARIS }), edge(3, { coordinates: TOKYO })];

  test('edges far from the nearest one are left out', () => {
    const at = (coordinates: typeof PARIS): Location => ({ source: 'geoip', coordinates, prefix: 24 });
    assert.deepEqual(choose(edges, '203.0.113.1', at(TOKYO)), ['192.0.2.3']);
    assert.deepEqual(choose(edges, '203.0.113.1', at(FRANKFURT)).toSorted(), ['192.0.2.1']);
  });

  test('an edge without a place is used only where no other is', () => {
    const here: Location = { source: 'geoip', coordinates: TOKYO, prefix: 24 };
    assert.deepEqual(choose([edge(4), ...edges], '203.0.113.1', here), ['192.0.2.3']);
    assert.deepEqual(choose([edge(4)], '203.0.113.1', here), ['192.0.2.4']);
  });

  test("a network of the operator's gets the edges of its group, if the set has some", () => {
    const own = [edge(1, { group: 'eu' }), edge(2, { group: 'asia' })];
    assert.deepEqual(choose(own, '10.0.0.1', { source: 'networks', group: 'asia', prefix: 8 }), ['192.0.2.2']);
    assert.equal(choose(own, '10.0.0.1', { source: 'networks', group: 'none', prefix: 8 }).length, 2);
  });
});

describe('rendezvous', () => {
  const edges = Array.from({ length: 10 }, (_, index) => edge(index + 1));

  test('a client network gets the same four, and so does each address in it', () => {
    const first = choose(edges, '203.0.113.1');
    assert.equal(first.length, 4);
    assert.deepEqual(choose(edges.toReversed(), '203.0.113.200'), first);
  });

  test('an edge that leaves moves only those that had it', () => {
    const clients = Array.from({ length: 2000 }, (_, index) => `10.${index >> 8}.${index & 255}.1`);
    const remaining = edges.slice(1);
    for (const client of clients) {
      const before = choose(edges, client);
      const after = choose(remaining, client);
      assert.deepEqual(
        before.filter((address) => address !== '192.0.2.1'),
        after.slice(0, before.includes('192.0.2.1') ? 3 : 4),
      );
    }
  });

  test('the first of an answer is spread by weight', () => {
    const weighted = [edge(1, { weight: 100 }), edge(2, { weight: 50 }), edge(3, { weight: 50 })];
    const firsts = new Map<string | undefined, number>();
    for (let index = 0; index < 20_000; index++) {
      const [first] = choose(weighted, `${index % 200}.${index >> 8}.${index & 255}.1`);
      firsts.set(first, (firsts.get(first) ?? 0) + 1);
    }
    assert.ok(Math.abs((firsts.get('192.0.2.1') ?? 0) - 10_000) < 500, String(firsts.get('192.0.2.1')));
    assert.ok(Math.abs((firsts.get('192.0.2.2') ?? 0) - 5_000) < 400, String(firsts.get('192.0.2.2')));
  });

  test('the prefix that an answer depends on is that of the client network only if edges were left out by it', () => {
    const here: Location = { source: 'geoip', coordinates: PARIS, prefix: 16 };
    const prefixOf = (count: number) =>
      chooseAddresses(
        candidatesOf(edges.slice(0, count), 4, () => 'up'),
        '203.0.113.1',
        here,
      ).prefix;
    assert.equal(prefixOf(4), 16);
    assert.equal(prefixOf(5), 24);
  });
});

describe('usable edges', () => {
  const rows: readonly (readonly [
    title: string,
    verdicts: readonly EdgeVerdict[],
    used: readonly number[],
    panic: boolean,
  ])[] = [
    ['one of two that is down is left out', ['down', 'up'], [2], false],
    ['more than half down by probes: probes are ignored', ['down', 'down', 'up'], [1, 2, 3], true],
    ['edges that say so themselves are no reason to ignore probes', ['out', 'out', 'up'], [3], false],
    ['a draining edge stays out when probes are ignored', ['out', 'down', 'down'], [2, 3], true],
    ['the last resort is the whole set', ['out', 'out'], [1, 2], false],
    ['a single edge that is down is handed out', ['down'], [1], true],
  ];
  for (const [title, verdicts, used, panic] of rows)
    test(title, () => {
      const edges = verdicts.map((_, index) => edge(index + 1));
      const all = candidatesOf(edges, 4, ({ edge: id }) => verdicts[Number(id.slice(4)) - 1] ?? 'up');
      const { candidates, isPanic } = usableOf(all);
      assert.deepEqual(
        candidates.map(({ address }) => address),
        used.map((n) => `192.0.2.${n}`),
      );
      assert.equal(isPanic, panic);
    });
});
