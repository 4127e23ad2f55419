import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expandLines } from './expand.ts';
import { parseSpooledLine } from './spooled-line.ts';

/** A line of 13 fields: an edge that is updated still has such lines in its spool. Written out, so that it stays what it is. */
const WRITTEN =
  '7\t192.0.2.1\t2026-01-31T12:00:00.000+08:00\t3\t100\t2000\ta.test\tGET\t/a\tHTTP/1.1\tTCP_MEM_HIT/200\ttext/html\t-\tB/1';

describe('a spool of the previous release', () => {
  test('a line of the previous release is read', () => {
    const line = parseSpooledLine(WRITTEN);
    assert.equal(line?.domainId, 7);
    assert.equal(line.target, '/a');
    assert.equal(line.request.cacheCode, 'TCP_MEM_HIT');
    assert.equal(line.request.status, 200);
  });

  test('a short line of the previous release is expanded', async () => {
    const expanded = await expandLines(Buffer.from(`${WRITTEN}\n=0\t0\t250\t4\t101\t2001\n`));
    const [whole, short, ...rest] = expanded.toString().split('\n');
    assert.equal(whole, WRITTEN);
    assert.equal(short, WRITTEN.replace('00.000+', '00.250+').replace('\t3\t100\t2000\t', '\t4\t101\t2001\t'));
    assert.deepEqual(rest, ['']);
  });
});
