import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredConnector } from '#db/tables/sms/connectors.ts';
import { SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import { ownedConnectors, sessionLeases } from './owned-connectors.ts';

const LOOPBACK: StoredConnector = {
  ...{ id: 1, name: 'loopback', enabled: true, partsPerSecond: undefined, secret: undefined, changedAt: 1 },
  settings: { kind: 'loopback' },
};

function connector(id: number, settings: Partial<SmppSettings> = {}, partsPerSecond?: number): StoredConnector {
  const carrier = { kind: 'smpp', host: 'smsc.example', port: 2775, systemId: 'us' } as const;
  return {
    ...{ id, name: `c${id}`, enabled: true, partsPerSecond, secret: undefined, changedAt: 1 },
    settings: { ...SMPP_DEFAULTS, ...carrier, ...settings },
  };
}

test('a lease is wanted for each session of a connector in use', () => {
  const off = { ...connector(4), enabled: false };
  const all = [LOOPBACK, connector(2), connector(3, { sessions: 2 }), off, connector(5, { sessions: 8, window: 3 })];
  assert.deepEqual(sessionLeases(all), [
    { name: 'connector:2', holders: 1 },
    { name: 'connector:3', holders: 2 },
    { name: 'connector:5', holders: 3 },
  ]);
});

test('only connectors whose lease is held are opened, and loopback ones always', () => {
  const opened = ownedConnectors([LOOPBACK, connector(2), connector(3)], (lease) => lease === 'connector:3');
  assert.deepEqual(
    opened.map(({ id }) => id),
    [1, 3],
  );
});

test('window and rate are divided by the sessions', () => {
  const all = [
    connector(2, { sessions: 1 }, 100),
    connector(3, { sessions: 4, window: 10 }, 100),
    connector(4, { sessions: 2, window: 1 }),
  ];
  const shares = ownedConnectors(all, () => true).map(({ settings, partsPerSecond }) => [
    settings.kind === 'smpp' && settings.window,
    partsPerSecond,
  ]);
  assert.deepEqual(shares, [
    [10, 100],
    [2, 25],
    [1, undefined],
  ]);
});
