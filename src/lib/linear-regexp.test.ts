import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compilePattern } from './linear-regexp.ts';

describe('a pattern of a customer', () => {
  const matching: [pattern: string, text: string, isMatch: boolean][] = [
    ['^/api/', '/api/users', true],
    ['^/api/', '/v1/api/', false],
    ['\\.(jpg|png)$', '/a/b.png', true],
    ['\\.(jpg|png)$', '/a/b.PNG', false],
    ['(?i)\\.png$', '/a/b.PNG', true],
    ['b+', 'abbbc', true],
    ['[0-9]{3}', '/12', false],
    ['(?<year>[0-9]{4})', '/2026', true],
    ['\\d+\\?v=', '/1?v=2', true],
  ];
  for (const [pattern, text, isMatch] of matching) {
    test(`${pattern} ${isMatch ? 'matches' : 'does not match'} ${text}`, () => {
      assert.equal(compileOrFail(pattern)(text), isMatch);
    });
  }

  const refused: [pattern: string, reason: RegExp][] = [
    ['', /is empty/],
    ['a'.repeat(513), /longer than 512/],
    ['(?=a)b', /looks around/],
    ['(?<!a)b', /looks around/],
    ['(a)\\1', /invalid escape/],
    ['[', /missing closing/],
    ['(', /missing closing/],
    ['a{1001}', /repeat count/],
    ['(a{100}){9}', /repeats too much/],
  ];
  for (const [pattern, reason] of refused) {
    test(`${pattern.slice(0, 20)} is refused: ${reason.source}`, () => {
      const compiled = compilePattern(pattern);
      assert.ok(compiled.kind === 'invalid');
      assert.match(compiled.reason, reason);
    });
  }

  test('any text compiles or is refused with a reason; what compiles answers as the engine of the language does', () => {
    const piece = fc.constantFrom('a', 'b', '.', '[ab]', '(a|b)', 'a*', 'b+', '(ab)?', '[^a]', '^', '$', 'a{2}', '\\.');
    const pattern = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(pattern, fc.string({ unit: fc.constantFrom('a', 'b', '.', '/'), maxLength: 12 }), (text, target) => {
        assert.equal(compileOrFail(text)(target), new RegExp(text).test(target));
      }),
    );
    fc.assert(fc.property(fc.string({ maxLength: 30 }), (text) => void compilePattern(text)));
  });

  test('one that nests repetitions takes twice as long for twice the text, not more', () => {
    const slow = ['(a+)+$', '(a|aa)+$', '(a*)*b$', '([a-z]+)*!'].map(compileOrFail);
    const timeFor = (chars: number) => {
      const text = `/!b${'a'.repeat(chars)}-`;
      const startedAt = performance.now();
      for (let i = 0; i < 20; i++) for (const matches of slow) matches(text);
      return performance.now() - startedAt;
    };
    timeFor(8192); // warm
    // A backtracking engine would need 2^8192 steps; the margin is for a busy machine.
    assert.ok(timeFor(8192) < 20 * timeFor(4096) + 50);
  });
});

function compileOrFail(text: string): (target: string) => boolean {
  const compiled = compilePattern(text);
  assert.ok(compiled.kind === 'pattern', compiled.kind === 'invalid' ? compiled.reason : '');
  return compiled.test;
}
