import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { parseRequest } from '../request.ts';
import { createFlights, type Flights, waitForLanding } from './collapse.ts';

describe('collapsing of requests for one key', () => {
  test('the first request leads, the others wait until it lands, then one of them leads', async () => {
    const flights = createFlights();
    const first = enter(flights);
    const second = enter(flights);
    assert.deepEqual([first.kind, second.kind, enter(flights, { key: 'other' }).kind], ['lead', 'wait', 'lead']);
    if (first.kind === 'lead') first.land();
    if (second.kind === 'wait') assert.equal(await waitForLanding(second.ready, new AbortController().signal), true);
    assert.equal(enter(flights, { waits: 1 }).kind, 'lead');
  });

  test('a request that has waited four times goes alone', () => {
    const flights = createFlights();
    enter(flights);
    assert.deepEqual([enter(flights, { waits: 3 }).kind, enter(flights, { waits: 4 }).kind], ['wait', 'alone']);
  });

  test('requests for a key whose answer was not stored go alone, for a while', () => {
    const flights = createFlights();
    flights.markUnshared('key', 0);
    assert.deepEqual([enter(flights, { now: 9_999 }).kind, enter(flights, { now: 10_000 }).kind], ['alone', 'lead']);
  });

  test('HEAD, ranges and authenticated requests neither lead nor wait', () => {
    const flights = createFlights();
    assert.equal(enter(flights, { method: 'HEAD' }).kind, 'alone');
    assert.equal(enter(flights, { headers: ['Range', 'bytes=0-1'] }).kind, 'alone');
    assert.equal(enter(flights, { headers: ['Authorization', 'x'] }).kind, 'alone');
    assert.equal(enter(flights).kind, 'lead');
  });

  test('a flight that never lands is replaced, and its late landing does not disturb the next', () => {
    const flights = createFlights();
    const lost = enter(flights);
    assert.equal(enter(flights, { now: 60_001 }).kind, 'lead');
    if (lost.kind === 'lead') lost.land();
    assert.equal(enter(flights, { now: 60_002 }).kind, 'wait');
  });

  test('a request whose look-up was overtaken by a landing looks again, and leads if that happens too often', async () => {
    const flights = createFlights();
    const { landings } = flights;
    const first = enter(flights);
    if (first.kind === 'lead') first.land();
    const overtaken = enter(flights, { landings });
    assert.equal(overtaken.kind, 'wait');
    if (overtaken.kind === 'wait')
      assert.equal(await waitForLanding(overtaken.ready, new AbortController().signal), true);
    assert.equal(enter(flights, { landings, waits: 4 }).kind, 'lead');
    assert.equal(enter(flights, { landings, key: 'other' }).kind, 'lead');
  });

  test('a client that leaves stops waiting', async () => {
    const gone = new AbortController();
    const waiting = waitForLanding(new Promise(() => undefined), gone.signal);
    gone.abort();
    assert.equal(await waiting, false);
  });

  test('a client that has already left does not wait at all', async () => {
    const waiting = waitForLanding(new Promise(() => undefined), AbortSignal.abort());
    assert.equal(await Promise.race([waiting, letOthersRun('it waits')]), false);
  });
});

test('a purge ends earlier flights and notes: no request waits for them, and the next may be shared again', () => {
  const flights = createFlights();
  enter(flights, { now: 10 });
  assert.equal(enter(flights, { now: 20, absentUpTo: 9 }).kind, 'wait');
  assert.equal(enter(flights, { now: 20, absentUpTo: 10 }).kind, 'lead');
  flights.markUnshared('other', 10);
  assert.equal(enter(flights, { key: 'other', now: 20, absentUpTo: 9 }).kind, 'alone');
  assert.equal(enter(flights, { key: 'other', now: 20, absentUpTo: 10 }).kind, 'lead');
});

interface Entering {
  readonly key?: string;
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly waits?: number;
  readonly now?: number;
  readonly absentUpTo?: number;
  readonly landings?: number;
}

function enter(flights: Flights, entering: Entering = {}) {
  const { key = 'key', method = 'GET', headers = [], waits = 0, now = 0, absentUpTo = -1 } = entering;
  const { landings = flights.landings } = entering;
  const request = parseRequest(
    {
      method,
      target: '/',
      httpVersion: '1.1',
      headers: ['Host', 'a.example', ...headers],
      isTls: false,
      clientAddress: '192.0.2.1',
      hasUnknownVersion: false,
      hasUnknownExpectation: false,
    },
    'causeway',
  );
  if (request.kind !== 'request') throw new Error(request.kind);
  return flights.enter(key, request, { waits, now, absentUpTo, landings, fits: () => false });
}
