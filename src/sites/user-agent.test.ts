import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseUserAgentEntry, UserAgentList } from './user-agent.ts';

describe('which programs are on a User-Agent list', () => {
  const rows: readonly (readonly [entry: string, userAgent: string, isListed: boolean])[] = [
    ['curl', 'curl/8.0', true],
    ['CURL', 'libCurl', true],
    ['curl', 'Mozilla/5.0', false],
    ['*curl*', 'x curl/8', true],
    ['curl*', 'x curl/8', false],
    ['curl*', 'Curl/8', true],
    ['*8', 'curl/8', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['ab*ba', 'aba', false],
    ['a*a', 'aa', true],
    ['*a*a*', 'a', false],
    ['a.c', 'abc', false],
    ['bücher', utf8('bücher'), true],
    ['bücher', utf8('BÜCHER/1'), true],
    ['BÜCHER', utf8('x bücher'), true],
    ['bücher', 'B\u00dcCHER', true], // Latin-1
    ['bücher', 'b\u00fccher', true],
    ['Яндекс', utf8('Яндекс'), true],
    ['Яндекс', utf8('яндекс/1.0'), true],
    ['яндекс*', utf8('ЯНДЕКС/1.0'), true],
    ['яндекс*', utf8('x ЯНДЕКС'), false],
    ['Ã', utf8('à'), false], // whose first byte it is
    ['ΟΔΟΣ', utf8('ΟΔΟΣ-2 οδος'), true],
    ['οδοσ-2', utf8('ΟΔΟΣ-2'), true],
    ['İstanbul', utf8('İSTANBUL'), true],
    ['搜狗', utf8('Mozilla/5.0 搜狗'), true],
    ['^$', '', true],
    ['^$', 'curl', false],
    ['this-is-empty-ua', '', true],
    ['*', '', true],
    ['*', 'curl', true],
    ['curl', '', false],
  ];
  for (const [entry, userAgent, isListed] of rows) {
    test(`${userAgent} is ${isListed ? '' : 'not '}on a list of ${entry}`, () => {
      const parsed = parseUserAgentEntry(entry);
      assert.ok(parsed.kind === 'entry');
      assert.equal(new UserAgentList(['other', parsed.entry]).denies(userAgent), isListed);
    });
  }

  test('a text that is not UTF-8 from end to end is read as Latin-1', () => {
    const list = new UserAgentList(['curl', 'яндекс']);
    assert.deepEqual([list.denies(`\u00ff CURL`), list.denies(`\u00ff ${utf8('яндекс')}`)], [true, false]);
  });

  test('entries that mean the same have one spelling; invalid ones are refused', () => {
    const spell = (text: string) => {
      const parsed = parseUserAgentEntry(text);
      return parsed.kind === 'entry' ? parsed.entry : undefined;
    };
    assert.equal(spell(' Curl**'), spell('cURL*'));
    assert.equal(spell('this-is-empty-UA'), spell('^$'));
    for (const text of ['', '  ', 'a\u0000b', 'a'.repeat(257), '\ud800']) assert.equal(spell(text), undefined);
  });

  test('many stars cost time linear in the text', () => {
    const list = new UserAgentList([`${'*a'.repeat(120)}*b`]);
    assert.equal(list.denies('a'.repeat(16_000)), false);
  });
});

/** Converts a text as it is received: a character per byte. */
function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
