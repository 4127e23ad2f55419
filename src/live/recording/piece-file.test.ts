import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPartHead, formatPieceHead, readPiece } from './piece-file.ts';

test('a file that was cut off anywhere has its whole parts', () => {
  const head = formatPieceHead({ startsAt: 1_769_832_000_123, isDiscontinuity: true });
  const parts = ['first', 'second', 'third'].map((text) => Buffer.from(text));
  const written = parts.map((part) => Buffer.concat([formatPartHead(part.length, 240.5), part]));
  const file = Buffer.concat([head, ...written]);
  const ends = written.map((_, n) => Buffer.concat([head, ...written.slice(0, n + 1)]).length);
  for (let length = 0; length <= file.length; length++) {
    const whole = ends.filter((end) => end <= length).length;
    const piece = readPiece(file.subarray(0, length));
    if (whole === 0) {
      assert.equal(piece, undefined, `${length}`);
      continue;
    }
    const expected = parts.slice(0, whole);
    assert.deepEqual(piece?.parts.map(String), expected.map(String), `${length}`);
    assert.equal(piece?.durationMs, whole * 240.5);
    assert.equal(piece?.startsAt, 1_769_832_000_123);
    assert.equal(piece?.isDiscontinuity, true);
  }
});

test('a malformed file has no parts', () => {
  for (const text of [
    '',
    '\n',
    '{}\nxxxxxxxxxxxxxxxxxxxx',
    'null\n',
    '[1]\n',
    '{"startsAt":"1","isDiscontinuity":true}\n',
  ])
    assert.equal(readPiece(Buffer.from(text)), undefined, text);
});
