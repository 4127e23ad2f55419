import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { runAutomaton } from './automaton.ts';
import { compilePattern } from './linear-regexp.ts';
import { requiredPieces } from './required-pieces.ts';

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
    test(`the pattern ${pattern} ${isMatch ? 'matches' : 'does not match'} ${text}`, () => {
      assert.equal(compileOrFail(pattern)(text), isMatch);
    });
  }

  const everyday = [
    '^https?://[^/]+/(news|sport|weather)/\\d{4}/\\d{2}/.*\\.html$',
    '\\.(jpg|jpeg|png|gif|webp|svg|ico|css|js|mjs|woff2?|ttf|eot|mp4|webm|mp3|zip|tar\\.gz|pdf)(\\?.*)?$',
    '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
    'token=[a-z0-9]{32}(&|$)',
    '^[^/]+/[^/]+/[^/]+(\\.[a-z]+)?(\\?[^=]+=[^&]*(&[^=]+=[^&]*)*)?$',
    '(news|sport|weather|culture|shop|video|live|blog|forum|wiki|account|basket|checkout|search|download|support|about|jobs|press|legal|privacy|contact|login|logout|profile|settings|admin|status|health|metrics|images|fonts|styles|scripts|assets|static|public|uploads|media|archive|events|tickets|music|movies|books|games|travel|food|health2|science|tech|money|house|garden|kids|pets|auto|style|photo|local|world)/',
  ];
  for (const pattern of everyday)
    test(`the pattern ${pattern.slice(0, 40)}… costs no time`, () => void compileOrFail(pattern));

  const refused: [pattern: string, reason: RegExp][] = [
    ['', /is empty/],
    ['a'.repeat(513), /longer than 512/],
    ['(?=a)b', /look-around/],
    ['(?<!a)b', /look-around/],
    ['(a)\\1', /invalid escape/],
    ['[', /missing closing/],
    ['(', /missing closing/],
    ['a{1001}', /repeat count/],
    ['a{1000}', /repeats too much/],
    ['a.{100}b', /too many ways/],
    ['(a|b)*a(a|b){60}[xy]$', /too many ways/],
  ];
  for (const [pattern, reason] of refused) {
    test(`the pattern ${pattern.slice(0, 20)} is refused: ${reason.source}`, () => {
      const compiled = compilePattern(pattern);
      assert.ok(compiled.kind === 'invalid');
      assert.match(compiled.reason, reason);
    });
  }

  test('any text compiles or is refused with a reason', () => {
    fc.assert(fc.property(fc.string({ maxLength: 30 }), (text) => void compilePattern(text)));
  });

  test('a pattern that compiles finds what RE2 finds', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\.', '\\w', '(?i:A)', '(?s:.)', '\\xe9', '\n');
    const assertion = fc.constantFrom('^', '$', '\\b', '\\B', '(?m:^)', '(?m:$)', '\\A', '\\z');
    const pattern = fc.letrec<{ any: string }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        atom,
        assertion,
        fc
          .tuple(tie('any'), fc.constantFrom('*', '+', '?', '{2}', '{0,3}'))
          .map(([inner, times]) => `(${inner})${times}`),
        fc.tuple(tie('any'), tie('any')).map((pair) => pair.join('')),
        fc.tuple(tie('any'), tie('any')).map((pair) => `(?:${pair.join('|')})`),
      ),
    })).any;
    const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b', '.', '/', '_', '\n', '\u00e9'), maxLength: 12 });
    fc.assert(
      fc.property(pattern, text, (expression, target) => {
        const isMatch = RE2JS.compile(expression).test(target);
        assert.equal(compileOrFail(expression)(target), isMatch);
        const pieces = requiredPieces(expression);
        if (isMatch && pieces.length > 0) assert.ok(pieces.some((piece) => target.includes(piece)));
      }),
      { numRuns: 2000 },
    );
  });

  test('no text is slow: neither one that backtracks, nor one that has another state for each character', () => {
    const patterns = [
      '(a+)+$',
      '(a|aa)+$',
      '(a*)*b$',
      '([a-z]+)*!',
      'a[ab]{9}[xy]$',
      '(a|b)*a(a|b){8}[xy]$',
      '(\\w+\\s?)+\\d',
    ];
    const all = patterns.map(compileOrFail);
    const mixed = Array.from({ length: 8190 }, (_, i) => ((i * i * 7919) % 131 > 64 ? 'a' : 'b')).join('');
    const before = process.cpuUsage();
    for (let i = 0; i < 20; i++)
      for (const matches of all) for (const text of ['a'.repeat(8190), mixed]) matches(`/${text}-`);
    // Takes about 10 ms. An engine that builds its states while matching needs seconds, and a backtracking one never
    // ends.
    assert.ok(process.cpuUsage(before).user < 1_000_000);
  });
});

function compileOrFail(text: string): (target: string) => boolean {
  const compiled = compilePattern(text);
  assert.ok(compiled.kind === 'pattern', compiled.kind === 'invalid' ? compiled.reason : '');
  return (target) => runAutomaton(compiled.automaton, target);
}
