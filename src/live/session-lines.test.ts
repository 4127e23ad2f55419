import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessRecord } from '#logs/line.ts';
import { createManualTimers } from '../../test/support/timers.ts';
import { SessionLines } from './session-lines.ts';

test('a session has a line each minute and one at the end, each with the bytes since the line before', () => {
  const records: AccessRecord[] = [];
  const timers = createManualTimers();
  const accessLog = { write: (_: number, record: AccessRecord) => void records.push(record) };
  const lines = new SessionLines({ accessLog, clock: () => 1_000_000 + timers.now(), timers });
  const connection = { receivedBytes: 100, sentBytes: 10 };
  const request = {
    clientAddress: '192.0.2.1',
    host: 'live.example.com',
    app: 'live',
    stream: 'a',
    query: new URLSearchParams(),
    isTls: false,
    flashVer: '',
    pageUrl: '',
  };
  const session = lines.open(
    { method: 'PUBLISH', domainId: 7, request, connection },
    { cacheCode: 'NONE', status: 200 },
  );
  session.goOn();
  timers.advance(59_999);
  assert.equal(records.length, 0);
  connection.receivedBytes = 1_000;
  timers.advance(1);
  connection.receivedBytes = 1_500;
  timers.advance(10_000);
  session.pause();
  session.goOn();
  timers.advance(5_000);
  session.pause();
  assert.equal(timers.size, 0);
  assert.deepEqual(
    records.map(({ endedAt, durationMs, requestBytes, responseBytes, isContinued }) => [
      endedAt,
      durationMs,
      requestBytes,
      responseBytes,
      isContinued,
    ]),
    [
      [1_060_000, 60_000, 1_000, 10, false],
      [1_070_000, 10_000, 500, 0, true],
      [1_075_000, 5_000, 0, 0, true],
    ],
  );
});
