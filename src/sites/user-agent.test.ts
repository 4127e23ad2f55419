import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileUserAgents, parseUserAgentEntry } from './user-agent.ts';

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
    ['bücher', 'b\u00c3\u00bccher', true],
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
      assert.equal(compileUserAgents(['other', parsed.entry])(userAgent), isListed);
    });
  }

  test('entries that mean the same have one spelling; what is none is refused', () => {
    const spell = (text: string) => {
      const parsed = parseUserAgentEntry(text);
      return parsed.kind === 'entry' ? parsed.entry : undefined;
    };
    assert.equal(spell(' Curl**'), spell('cURL*'));
    assert.equal(spell('this-is-empty-UA'), spell('^$'));
    for (const text of ['', '  ', 'a\u0000b', 'a'.repeat(257), '\ud800']) assert.equal(spell(text), undefined);
  });

  test('many stars cost time linear in the text', () => {
    const isListed = compileUserAgents([`${'*a'.repeat(120)}*b`]);
    assert.equal(isListed('a'.repeat(16_000)), false);
  });
});
