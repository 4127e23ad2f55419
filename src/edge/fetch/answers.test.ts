import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { type Eventual, Future } from '#lib/future.ts';
import { parseRequest } from '../request.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import { abandonBody } from '../respond/stream.ts';
import { MemoryStore } from '../store/memory.ts';
import { withLanding } from './answers.ts';
import { createFlights, type Flights } from './collapse.ts';

describe('landing of a flight', () => {
  type Row = readonly [what: string, fetchAnswer: () => Eventual<EdgeAnswer | undefined>];
  const rows: readonly Row[] = [
    ['the client has left', () => undefined],
    ['there is an answer that is not stored', () => answer(false)],
    ['the answer comes later', () => later((future) => future.resolve(answer(false)))],
    ['the fetch throws', fail],
    ['the fetch fails later', () => later((future) => future.reject(new Error('a fault')))],
    ['a promise of the answer is rejected', async () => fail()],
    ['the answer is stored, at its end', () => answer(true)],
    ['the answer comes later and is stored, at its end', () => later((future) => future.resolve(answer(true)))],
  ];
  for (const [what, fetchAnswer] of rows) {
    test(`a flight lands once when ${what}`, async () => {
      const flights = createFlights();
      const role = enter(flights);
      const made = await (async () =>
        withLanding({ flights, clock: () => 0 }, { key: 'key' }, role, fetchAnswer))().catch(() => undefined);
      if (what.endsWith('at its end')) {
        assert.deepEqual([flights.landings, enter(flights).kind], [0, 'wait']);
        if (made !== undefined) abandonBody(made.body);
      }
      assert.deepEqual([flights.landings, enter(flights).kind], [1, 'lead']);
    });
  }
});

function later(settle: (future: Future<EdgeAnswer>) => void): Future<EdgeAnswer> {
  const future = new Future<EdgeAnswer>();
  setImmediate(() => settle(future));
  return future;
}

function fail(): never {
  throw new Error('a fault');
}

function answer(isStored: boolean): EdgeAnswer {
  const writer = new MemoryStore({ maxBytes: 1024 * 1024 }).openWriter();
  const fill = isStored ? { writer, announcedBytes: undefined, onWhole: () => undefined } : undefined;
  const body = { kind: 'stream', stream: Readable.from([]), fill } as const;
  return { status: 200, reason: 'OK', headers: [], body, mark: { status: 'MISS' } };
}

function enter(flights: Flights) {
  const request = parseRequest(
    {
      method: 'GET',
      target: '/',
      httpVersion: '1.1',
      headers: ['Host', 'a.example'],
      isTls: false,
      clientAddress: '192.0.2.1',
      hasUnknownVersion: false,
      hasUnknownExpectation: false,
    },
    'causeway',
  );
  if (request.kind !== 'request') throw new Error(request.kind);
  const { landings } = flights;
  return flights.enter('key', request, { waits: 0, now: 0, absentUpTo: -1, landings, fits: () => false });
}
