import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COUNTERS, noCounters } from './counters.ts';
import { formatRecord, fromRow, parseRecord, toRow } from './journal.ts';

const COUNTS = { ...noCounters(), domainId: 7, minute: 29_000_000 };
COUNTERS.forEach((name, n) => {
  COUNTS[name] = n + 1;
});

test('a record is read as it was written, each counter by its name', () => {
  const record = { upTo: 123, counts: [COUNTS, { ...COUNTS, domainId: 0 }] };
  assert.deepEqual(parseRecord(formatRecord(record)), record);
});

test('a record that is not complete is ignored', () => {
  const text = formatRecord({ upTo: 123, counts: [COUNTS] });
  for (const cut of [1, 5, text.length - 1]) assert.equal(parseRecord(text.slice(0, cut)), undefined);
  for (const other of ['', '[]', '{}', '{"upTo":-1,"counts":[]}', '{"upTo":1,"counts":[[1,2]]}', '{"upTo":1}', 'null'])
    assert.equal(parseRecord(other), undefined, other);
  const row = toRow(COUNTS);
  for (const wrong of [-1, 1.5, '1', null, 2 ** 53]) {
    assert.equal(fromRow(row.with(4, wrong as number)), undefined, String(wrong));
  }
});
