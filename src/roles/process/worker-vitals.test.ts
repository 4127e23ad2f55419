import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SILENT_MS, VitalsBook } from './worker-vitals.ts';

const vitals = (worker: string, requests: number, sentBytes = 0, descriptors = 0, pid = worker.charCodeAt(0)) => ({
  worker,
  pid,
  requests,
  sentBytes,
  underWay: 1,
  descriptors,
});

test('rates are those between the last two reports of each worker, summed over the workers', () => {
  const book = new VitalsBook(2, 0);
  book.note(vitals('a', 1000, 5000), 1000);
  assert.deepEqual(book.rates(1000), { requestsPerSecond: 0, sentBytesPerSecond: 0, underWay: 1 });
  book.note(vitals('a', 1100, 15_000), 3000);
  book.note(vitals('b', 0), 3000);
  book.note(vitals('b', 40, 400), 5000);
  assert.deepEqual(book.rates(5000), { requestsPerSecond: 70, sentBytesPerSecond: 5200, underWay: 2 });
  book.note(vitals('a', 10, 100, 0, 7), 5000); // its successor, which runs beside it
  book.note(vitals('a', 1100, 15_000), 5000);
  book.note(vitals('a', 30, 300, 0, 7), 7000);
  assert.deepEqual(book.rates(7000), { requestsPerSecond: 30, sentBytesPerSecond: 300, underWay: 3 });
  assert.equal(book.problem(7000), undefined);
});

test('a worker that is silent for 15 s is missing, and its rates no longer count', () => {
  const book = new VitalsBook(2, 0);
  assert.deepEqual([book.isComplete(0), book.problem(0)], [false, '0 of 2 workers report']);
  book.note(vitals('a', 10), 0);
  book.note(vitals('a', 20), 2000);
  book.note(vitals('b', 0, 0, 0.5), 10_000);
  assert.deepEqual([book.isComplete(10_000), book.problem(10_000)], [true, undefined]);
  assert.equal(book.rates(10_000).requestsPerSecond, 5);
  const later = 2000 + SILENT_MS;
  assert.equal(book.problem(later), '1 of 2 workers report');
  assert.deepEqual([book.rates(later).requestsPerSecond, book.descriptors(later)], [0, 0.5]);
  assert.equal(book.isComplete(later), true);
});
