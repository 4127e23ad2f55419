import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { needs, obtain } from '../../test/support/runner/needs.ts';
import { writeCsv } from './csv.ts';

describe('CSV', () => {
  test('begins with the mark of UTF-8 and ends each row with CR LF', () => {
    assert.equal(writeCsv(['时间', 'requests'], [['2026-01-31', 4]]), '\u{feff}时间,requests\r\n2026-01-31,4\r\n');
  });

  test('is read back by another reader as it was', needs('python'), () => {
    const rows = [
      ['a,b', 1, 'say "hi"'],
      ['line\r\nbreak', null, ' blank '],
      ['', -1.5, '引号“”'],
    ];
    const program =
      'import csv,json,sys,io; print(json.dumps(list(csv.reader(io.StringIO(sys.stdin.buffer.read().decode("utf-8-sig"), newline="")))))';
    const read = execFileSync(obtain('python'), ['-c', program], { input: writeCsv(['x', 'y', 'z'], rows) });
    const expected = [['x', 'y', 'z'], ...rows.map((row) => row.map((cell) => (cell === null ? '' : String(cell))))];
    assert.deepEqual(JSON.parse(read.toString()), expected);
  });

  test('no text of a visitor becomes a formula, and numbers stay numbers', () => {
    const cells = ['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)', '\t=1', '/a=1'];
    const [, ...lines] = writeCsv(
      ['referer'],
      cells.map((cell) => [cell]),
    ).split('\r\n');
    assert.deepEqual(lines, ['"\'=HYPERLINK(""http://x"")"', "'+1", "'-1", "'@SUM(A1)", "'\t=1", '/a=1', '']);
    assert.equal(writeCsv(['n'], [[-1]]), '\u{feff}n\r\n-1\r\n');
  });
});
