/** What an edge says of itself in its report: read as it was written, and refused by the name of the member. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageError, parseStatus } from './messages.ts';

const STATUS = {
  edge: 'fra1',
  at: { epoch: 'e', revision: 7, tag: 't' },
  appliedRevision: 7,
  rejected: [],
  build: '1.4.0',
  startedAt: 5,
  origins: [],
};
const VITALS = {
  state: 'unhealthy',
  features: ['drain'],
  clockOffsetMs: -7_200_000,
  load: { cpu: 0.31, mbit: 812, requests: 5120.5, underWay: 96, cacheDisk: 0.71 },
  health: [
    { check: 'disk', ok: true },
    { check: 'clock', ok: false, detail: '7200 s behind control' },
  ],
};

test('a report has what the edge says of itself, or nothing of it', () => {
  assert.deepEqual(parseStatus(JSON.stringify({ ...STATUS, ...VITALS })), { ...STATUS, vitals: VITALS });
  assert.deepEqual(parseStatus(JSON.stringify(STATUS)), STATUS);
  const { clockOffsetMs: _, ...unknown } = VITALS;
  assert.deepEqual(parseStatus(JSON.stringify({ ...STATUS, ...unknown })), { ...STATUS, vitals: unknown });
  const troubled = { ...VITALS, sinks: [{ sink: 'vector', state: 'failing', reason: '503' }] };
  assert.deepEqual(parseStatus(JSON.stringify({ ...STATUS, ...troubled })), { ...STATUS, vitals: troubled });
  const place = {
    addresses: ['192.0.2.1', '2001:db8::1'],
    port: 80,
    coordinates: { latitude: 50.1, longitude: -8.7 },
    weight: 50,
  };
  const placed = parseStatus(JSON.stringify({ ...STATUS, ...VITALS, place }));
  assert.deepEqual(placed, { ...STATUS, vitals: { ...VITALS, place } });
  const newer = { ...VITALS, health: [...VITALS.health, { check: 'gravity', ok: false }], weather: 'fine' };
  assert.deepEqual(parseStatus(JSON.stringify({ ...STATUS, ...newer })), { ...STATUS, vitals: VITALS });
});

test('a report with wrong words of the edge about itself is refused, naming the member', () => {
  const { load } = VITALS;
  const rows: readonly (readonly [string, object])[] = [
    ['state: expected one of syncing, ready, unhealthy, draining', { state: 'away' }],
    ['state: expected one of', { state: 7 }],
    ['features: expected a list of at most 64', { features: 'drain' }],
    ['features: expected a list of at most 64', { features: Array(65).fill('x') }],
    ['features: expected a text of 1 to 64 characters', { features: [''] }],
    ['clockOffsetMs: expected an integer', { clockOffsetMs: 1.5 }],
    ['clockOffsetMs: expected an integer', { clockOffsetMs: 1e300 }],
    ['clockOffsetMs: expected an integer', { clockOffsetMs: -1e13 }],
    ['startedAt: expected epoch milliseconds', { startedAt: 2 ** 53 - 1 }],
    ['build: expected a text without NULs and unpaired surrogates', { build: 'a\0' }],
    ['build: expected a text without NULs and unpaired surrogates', { build: 'a\ud800' }],
    ['load: expected an object', { load: null }],
    ['load.cpu: expected a number from 0', { load: { ...load, cpu: -1 } }],
    ['load.mbit: expected a number from 0', { load: { ...load, mbit: '812' } }],
    ['load.underWay: expected an integer from 0', { load: { ...load, underWay: 0.5 } }],
    ['load.underWay: expected an integer from 0 to', { load: { ...load, underWay: 2 ** 31 } }],
    ['load.cacheDisk: expected a number from 0', { load: { ...load, cacheDisk: undefined } }],
    ['place: expected an object', { place: [] }],
    [
      'addresses: expected a list of at most 8',
      { place: { addresses: Array(9).fill('192.0.2.1'), port: 80, weight: 1 } },
    ],
    ['addresses: expected IP addresses', { place: { addresses: ['192.0.2.01'], port: 80, weight: 1 } }],
    ['port: expected an integer from 0 to 65535', { place: { addresses: [], port: 65_536, weight: 1 } }],
    ['weight: expected an integer from 0 to 100', { place: { addresses: [], port: 80, weight: 101 } }],
    [
      'coordinates: expected',
      { place: { addresses: [], port: 80, weight: 1, coordinates: { latitude: 91, longitude: 0 } } },
    ],
    ['health: expected a list of at most 64', { health: {} }],
    ['health: expected an object', { health: [7] }],
    ['sinks: expected a list of at most 8', { sinks: Array(9).fill({}) }],
    ['sink: expected a text of 1 to 64', { sinks: [{ state: 'failing', reason: 'a' }] }],
    ['state: expected one of failing, dropping', { sinks: [{ sink: 'a', state: 'fine', reason: 'a' }] }],
    ['ok: expected true or false', { health: [{ check: 'disk', ok: 1 }] }],
    ['check: expected a text of 1 to 64 characters', { health: [{ ok: true }] }],
    [
      'detail: expected a text of 1 to 200 characters',
      { health: [{ check: 'disk', ok: false, detail: 'x'.repeat(201) }] },
    ],
  ];
  for (const [expected, change] of rows)
    assert.throws(
      () => parseStatus(JSON.stringify({ ...STATUS, ...VITALS, ...change })),
      (error) => error instanceof MessageError && error.message.startsWith(expected),
      expected,
    );
});
