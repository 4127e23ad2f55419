import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { areWhole, attemptOf, type Draft, numbersOf, sendRequest, splitRequest } from './draft.ts';

const DRAFT: Draft = { app: 'sms_a', kind: 'ordinary', numbers: '138 0013 8000', text: '你好+1' };

describe('a message that is being written', () => {
  test('numbers are taken as people write them, with commas of both kinds or on lines', () => {
    const numbers = '138-0013-8000，+852 6123 4567;\n 13900139000,,';
    assert.deepEqual(numbersOf({ numbers }), ['13800138000', '+85261234567', '13900139000']);
    assert.equal(areWhole({ numbers }), true);
    assert.equal(areWhole({ numbers: '13800138000,139' }), false);
  });

  test('the text is encoded as the interface has it, half an emoji too', () => {
    assert.deepEqual(sendRequest(DRAFT, 1_769_832_000_000), {
      app_key: 'sms_a',
      mobile: '13800138000',
      content: '%E4%BD%A0%E5%A5%BD%2B1',
      time: '1769832000000',
    });
    assert.equal(sendRequest({ ...DRAFT, text: '\ud83d' }, 1).content, '%EF%BF%BD');
    assert.equal(sendRequest({ ...DRAFT, kind: 'notice' }, 1).smsType, 2);
  });

  test('the service is asked about numbers only when they are meant', () => {
    assert.equal(splitRequest(DRAFT, false).mobile, undefined);
    assert.equal(splitRequest(DRAFT, true).mobile, '13800138000');
    assert.equal(splitRequest({ ...DRAFT, numbers: ' ' }, true).mobile, undefined);
    assert.equal(splitRequest({ ...DRAFT, kind: 'notice' }, true).kind, 'ordinary');
  });

  test('a repetition has the time of the first attempt; a changed draft is another message', () => {
    const first = attemptOf(undefined, DRAFT, 1);
    assert.equal(attemptOf(first, { ...DRAFT }, 2).time, 1);
    assert.equal(attemptOf(first, { ...DRAFT, text: 'x' }, 2).time, 2);
  });
});
