import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StatusWord } from '#model/sms-status-words.ts';
import { stateOfWord } from './status-word.ts';

describe('the word of a receipt', () => {
  const ROWS: readonly [string, string | undefined][] = [
    ['DELIVRD', 'delivered'],
    ['delivrd', 'delivered'],
    ['ACCEPTD', 'accepted'],
    ['RETRY', 'enroute'],
    ['MA:0001', 'undelivered'],
    ['MK:0012', 'undelivered'],
    ['mk:0012', 'undelivered'],
    ['MI00020', 'undelivered'],
    ['DB_0141', 'undelivered'],
    ['R1', 'undelivered'],
    ['BEYONDM:1', 'undelivered'],
    ['MK:001234', undefined],
    ['ABCDEFGH:1', undefined],
    ['MK:', undefined],
    ['0012', undefined],
    ['UNKNOWN', undefined],
    ['NOROUTE', undefined],
    ['', undefined],
  ];
  for (const [word, state] of ROWS)
    test(`the word ${JSON.stringify(word)} means ${state ?? 'nothing'}`, () => {
      assert.equal(stateOfWord(word, word, []), state);
    });

  const OWN: readonly StatusWord[] = [
    { word: 'MK:*', state: 'expired' },
    { word: 'MK:00*', state: 'onTheWay' },
    { word: 'mk:0012', state: 'delivered' },
    { word: 'UNDELIV', state: 'unknown' },
    { word: 'UNDELIV/027', state: 'failed' },
    { word: 'DELIVRD', state: 'failed' },
    { word: 'NOROUTE*', state: 'failed' },
  ];
  const OWN_ROWS: readonly [string, string, string | undefined][] = [
    ['MK:0012', 'MK:0012', 'delivered'],
    ['MK:0012', 'MK:0012/5', 'delivered'],
    ['MK:0013', 'MK:0013', 'enroute'],
    ['MK:1', 'MK:1', 'expired'],
    ['UNDELIV', 'UNDELIV/026', 'unknown'],
    ['UNDELIV', 'UNDELIV/027', 'undelivered'],
    ['DELIVRD', 'DELIVRD', 'undelivered'],
    ['NOROUTER', 'NOROUTER', 'undelivered'],
    ['', 'MK:9', 'expired'],
    ['MA:0001', 'MA:0001', 'undelivered'],
    ['XYZ', 'XYZ', undefined],
  ];
  for (const [stat, word, state] of OWN_ROWS)
    test(`the word ${word} of a carrier with words of its own means ${state ?? 'nothing'}`, () => {
      assert.equal(stateOfWord(stat, word, OWN), state);
    });
});
