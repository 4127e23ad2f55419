import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { expandLines } from '../expand.ts';
import { LineReader, type SpoolLine } from './line-reader.ts';

const whole = (n: number) =>
  `7\t203.0.113.${n % 250}\t2025-01-31T23:30:00.${String(n % 1000).padStart(3, '0')}+08:00\t1\t10\t100\twww.example.com\tGET\t/${n}\tHTTP/1.1\tTCP_HIT/200\t-\t-\t-\n`;
/** The answer and the client of the whole line before. */
const short = (n: number) => `=0\t0\t${n % 7}\t1\t10\t${n}\n`;
const text = Array.from({ length: 6_000 }, (_, n) => (n % 3 === 0 ? whole(n) : short(n))).join('');

test('lines are read whole from any place on, also those that refer to lines before it', async (t) => {
  const path = join(temporaryFolder(t), 'a.log');
  writeFileSync(path, text);
  const expected = (await expandLines(Buffer.from(text, 'latin1'))).toString('latin1').split('\n').slice(0, -1);
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index + 1);
  for (const from of [0, ends[0] ?? 0, ends[1] ?? 0, ends[2_999] ?? 0, ends[5_998] ?? 0, ends[5_999] ?? 0]) {
    const reader = new LineReader(path, from);
    const read: SpoolLine[] = [];
    for (let lines = await reader.read(); lines.length > 0; lines = await reader.read()) read.push(...lines);
    const skipped = ends.indexOf(from) + 1;
    assert.deepEqual(
      read.map((line) => line.text),
      expected.slice(skipped),
    );
    assert.deepEqual(
      read.map(({ end }) => end),
      ends.slice(skipped),
    );
    assert.ok(read.every(({ start }, n) => start === (read[n - 1]?.end ?? from)));
  }
});

test('half a line is read when it is whole', async (t) => {
  const path = join(temporaryFolder(t), 'a.log');
  const line = whole(1);
  writeFileSync(path, line.slice(0, 20));
  const reader = new LineReader(path, 0);
  assert.deepEqual(await reader.read(), []);
  appendFileSync(path, line.slice(20) + short(2).slice(0, 3));
  assert.deepEqual(
    (await reader.read()).map(({ end }) => end),
    [line.length],
  );
  appendFileSync(path, short(2).slice(3));
  assert.equal((await reader.read()).length, 1);
  assert.deepEqual(await reader.read(), []);
  await assert.rejects(new LineReader(`${path}.none`, 0).read(), { code: 'ENOENT' });
});
