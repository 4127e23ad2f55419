import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError } from '../command/context.ts';
import { readStatusWords } from './status-words-file.ts';

test('a line is a word, with blanks, comments, a byte order mark and either end of line', () => {
  assert.deepEqual(
    readStatusWords(
      '\uFEFF# word,state\r\nMK:0001, failed, absent, 不在, away\r\n\nMK:*,expired\nA,failed,,,why\n',
      'a.csv',
    ),
    ['MK:0001=failed|absent|不在|away', 'MK:*=expired', 'A=failed|||why'],
  );
  assert.deepEqual(readStatusWords('# nothing yet\n', 'a.csv'), []);
});

test('an error in a file of words has the file, its line and the form of a line', () => {
  const good = '# words\nA,failed\n\n';
  for (const line of [
    'B',
    'B,',
    'B,lost',
    'B,failed,nowhere',
    `B,failed,absent,${'x'.repeat(61)}`,
    'B,failed,absent,not, reachable,x',
    'B,failed,absent,a|b',
    'B=failed',
    `${'B'.repeat(41)},failed`,
    ',failed',
  ])
    assert.throws(
      () => readStatusWords(`${good}${line}\nC,failed\n`, '/etc/words.csv'),
      (error) => {
        assert.ok(error instanceof CliError);
        assert.match(error.message, /^\/etc\/words\.csv, line 4: expected word,state or .*; found "/);
        assert.ok(error.message.endsWith(`found ${JSON.stringify(line)}`), error.message);
        assert.doesNotMatch(error.message, /status-words/);
        return true;
      },
    );
  assert.throws(
    () => readStatusWords('A,failed\n'.repeat(501), 'a.csv'),
    /^Error: a\.csv: expected .*500.*found 501 lines/,
  );
});
