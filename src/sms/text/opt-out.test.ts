import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOptOut } from './opt-out.ts';

const WORDS: readonly string[] = [
  ...[
    'R',
    't',
    ' TD ',
    'td。',
    '退订',
    'Stop',
    'ＴＤ',
    'STOP!',
    'ｔｄ',
    'Ｒ',
    '　退订　',
    '退 订',
    'T D',
    '\tTD\r\n',
    'TD\0',
  ],
  ...['。TD', '“TD”', '【退订】', '(T)', '...TD', '～退订', '"R"', '\ufeffTD', '\u200bTD', '-TD-', '*TD#'],
];

test('one of the words alone opts out, however it is typed', () => {
  for (const text of WORDS) assert.ok(isOptOut([text]), JSON.stringify(text));
  assert.ok(isOptOut(['呄', 'TD']), 'by any reading');
});

test('no other text opts out', () => {
  for (const text of ['', '。', 'Thank you', 'RT', '不退订', 'stop it', 'tdd', 'R2', '1', '退订吗我想问', 'R😀'])
    assert.ok(!isOptOut([text]), JSON.stringify(text));
  assert.ok(!isOptOut([]));
});
