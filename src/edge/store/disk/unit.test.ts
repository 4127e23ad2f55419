import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type EntryRow,
  encodeRow,
  encodeUnitHeader,
  readUnits,
  TABLE_ROW_BYTES,
  UNIT_HEADER_BYTES,
  type Unit,
} from './unit.ts';

const NAME = '0123456789abcdef.segment';

/** A segment of units with these entries of two bytes each. */
function segmentOf(
  units: readonly (readonly EntryRow[])[],
  name = NAME,
): { readonly bytes: Buffer; readonly ends: readonly number[] } {
  let bytes = Buffer.alloc(0);
  const ends: number[] = [];
  for (const [index, rows] of units.entries()) {
    const table = Buffer.alloc(rows.length * TABLE_ROW_BYTES);
    for (const [row, each] of rows.entries()) encodeRow(each, table, row * TABLE_ROW_BYTES);
    const entries = Buffer.alloc(rows.length * 2, index + 1);
    const header = {
      entryBytes: entries.length,
      rows: rows.length,
      isLast: index === units.length - 1,
      time: 1_000 + index,
    };
    bytes = Buffer.concat([
      bytes,
      encodeUnitHeader({ segment: name, start: bytes.length }, header, table),
      entries,
      table,
    ]);
    ends.push(bytes.length);
  }
  return { bytes, ends };
}

function read(bytes: Buffer, start = 0, name = NAME): Unit[] {
  const units: Unit[] = [];
  const reading = readUnits(name, start, (unit) => units.push(unit));
  for (let step = reading.next(); step.done !== true; ) {
    const { position, length } = step.value;
    step = reading.next(bytes.subarray(position, position + length));
  }
  return units;
}

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const row = fc.record(
  { high: uint32, low: uint32, offset: uint32, length: uint32, fileBlocks: uint32 },
  { noNullPrototype: true },
);
const units = fc.array(fc.array(row, { maxLength: 5 }), { minLength: 1, maxLength: 4 });
const SAMPLE = [
  [{ high: 1, low: 2, offset: UNIT_HEADER_BYTES, length: 2, fileBlocks: 0 }],
  [{ high: 3, low: 4, offset: 500, length: 2, fileBlocks: 7 }],
  [{ high: 5, low: 6, offset: 600, length: 0, fileBlocks: 0 }],
];

describe('units of a segment', () => {
  test('units are read as they were written, from the first or from any later one', () => {
    fc.assert(
      fc.property(units, (written) => {
        const { bytes, ends } = segmentOf(written);
        const found = read(bytes);
        assert.deepEqual(
          found.map(({ table }) => table),
          written,
        );
        assert.deepEqual(
          found.map(({ end }) => end),
          ends,
        );
        assert.deepEqual(
          found.map(({ isLast }) => isLast),
          written.map((_, index) => index === written.length - 1),
        );
        for (const [index, end] of ends.entries())
          assert.deepEqual(
            read(bytes, end).map(({ time }) => time),
            found.slice(index + 1).map(({ time }) => time),
          );
      }),
      { seed: 1 },
    );
  });

  test('a segment that was cut anywhere has the units before', () => {
    const { bytes, ends } = segmentOf(SAMPLE);
    for (let length = 0; length <= bytes.length; length++) {
      const whole = ends.filter((end) => end <= length).length;
      assert.deepEqual(
        read(bytes.subarray(0, length)).map(({ table }) => table),
        SAMPLE.slice(0, whole),
        `${length}`,
      );
    }
  });

  test('a changed byte in its header or table makes a unit invalid, and ends the segment', () => {
    const { bytes, ends } = segmentOf(SAMPLE);
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      const index = ends.findIndex((end) => at < end);
      const start = index === 0 ? 0 : (ends[index - 1] ?? 0);
      const isEntry = at >= start + UNIT_HEADER_BYTES && at < start + UNIT_HEADER_BYTES + 2;
      assert.deepEqual(
        read(changed).map(({ table }) => table),
        isEntry ? SAMPLE : SAMPLE.slice(0, index),
        `${at}`,
      );
    }
  });

  test('a unit is invalid in another place and in another segment', () => {
    const { bytes, ends } = segmentOf(SAMPLE);
    const [first = 0] = ends;
    assert.equal(read(Buffer.concat([bytes.subarray(0, first), bytes])).length, 1);
    assert.equal(read(bytes.subarray(first)).length, 0);
    assert.equal(read(segmentOf(SAMPLE, 'fedcba9876543210.segment').bytes).length, 0);
    assert.equal(read(Buffer.concat([bytes, bytes])).length, SAMPLE.length);
    assert.equal(read(Buffer.alloc(10_000)).length, 0);
  });
});
