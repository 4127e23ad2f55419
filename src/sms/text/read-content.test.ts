import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPhoneContent } from './read-content.ts';

const UCS2 = '90008ba2';
const GBK = 'cdcbb6a9';

/** What is read as 退订, TD or no text. */
const ROWS: readonly (readonly [coding: number, octets: string, text: string])[] = [
  [8, UCS2, '退订'],
  [9, UCS2, '退订'],
  [24, UCS2, '退订'],
  [25, `${UCS2}0000`, '退订'],
  [8, `${UCS2}20`, '退订'],
  [15, GBK, '退订'],
  [15, `${GBK}0000`, '退订'],
  [0, '5444', 'TD'],
  [0, '544400', 'TD'],
  [0, GBK, '退订'],
  [3, GBK, '退订'],
  [4, '5444', 'TD'],
  [4, GBK, '退订'],
  [99, '5444', 'TD'],
  [15, 'ff80', 'hex:ff80'],
  [4, '0102', 'hex:0102'],
  [0, 'ffff', 'hex:ffff'],
  [246, '5444', 'hex:5444'],
  [0, '', ''],
  [8, '', ''],
];

for (const [coding, octets, text] of ROWS)
  test(`coding ${coding}, ${octets || 'nothing'}: ${text}`, () => {
    const read = readPhoneContent(coding, 0, Buffer.from(octets, 'hex'));
    assert.deepEqual([read.text, read.isText], [text, !text.startsWith('hex:')]);
  });

test('a header is read where the indicator is 1 or 64, and octets without a header are text', () => {
  const part = Buffer.from(`050003020201${UCS2}`, 'hex');
  const concatenation = { reference: 2, part: 1, parts: 2 };
  for (const udhi of [1, 64, 65]) {
    const read = readPhoneContent(8, udhi, part);
    assert.deepEqual([read.text, read.concatenation, read.octets.toString('hex')], ['退订', concatenation, UCS2]);
  }
  assert.equal(readPhoneContent(8, 0, part).concatenation, undefined);
  assert.equal(readPhoneContent(8, 1, Buffer.from(UCS2, 'hex')).text, '退订');
});
