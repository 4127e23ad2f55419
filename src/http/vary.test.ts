import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { options } from './examples.suite.ts';
import { normalizeValue, parseVary, parseWeighted, pickFields, secondaryKey } from './vary.ts';

describe('vary', () => {
  test('names of vary are lower-case, sorted, unique; a star anywhere matches nothing', () => {
    const rows: [string[], string[] | undefined][] = [
      [[], []],
      [['Foo'], ['foo']],
      [
        ['Foo, bar', 'FOO'],
        ['bar', 'foo'],
      ],
      [['', ', ,'], []],
      [['*'], undefined],
      [['Foo, *'], undefined],
      [['', '*'], undefined],
    ];
    for (const [lines, expected] of rows) assert.deepEqual(parseVary(lines), expected, JSON.stringify(lines));
  });

  test('equivalent values share a key, others do not', () => {
    const rows: [string, string[], string[], boolean][] = [
      ['foo', ['1'], ['1'], true],
      ['foo', ['1'], ['2'], false],
      ['foo', ['1'], ['1, 2'], false],
      ['foo', ['1, 2'], ['1,2'], true],
      ['foo', [' 1 ,  2'], ['1', '2'], true],
      ['foo', ['"1, 2"'], ['"1,2"'], false],
      ['foo', [], [''], false],
      ['foo', ['A'], ['a'], false],
      ['accept-language', ['en, de'], ['de, en'], true],
      ['accept-language', ['en, de;q=0.5'], ['de;q=0.5, en'], true],
      ['accept-language', ['en, de;q=0.5'], ['en;q=0.5, de'], false],
      ['accept-language', ['EN , de'], ['en,DE'], true],
      ['accept-language', [], [''], false],
      ['accept-encoding', ['gzip, br'], ['BR,gzip'], true],
      ['accept-encoding', ['gzip, br;q=0'], ['gzip'], true],
      ['accept-encoding', ['gzip;q=1.000'], ['gzip'], true],
      ['accept-encoding', ['gzip;q=0.5'], ['gzip'], false],
      ['accept-encoding', ['gzip, identity;q=0'], ['gzip'], false],
      ['accept-encoding', ['*;q=0'], [''], false],
    ];
    for (const [field, a, b, isEqual] of rows) {
      const keys = [a, b].map((lines) => normalizeValue(field, lines, options()));
      assert.equal(keys[0] === keys[1], isEqual, `${field}: ${JSON.stringify(a)} ${JSON.stringify(b)}`);
    }
  });

  test('the order of languages counts if the site says so', () => {
    const strict = options({ normalizeVary: false });
    assert.notEqual(
      normalizeValue('accept-language', ['en, de'], strict),
      normalizeValue('accept-language', ['de, en'], strict),
    );
  });

  test('weights are read; an invalid weight means that the member is not acceptable', () => {
    assert.deepEqual(parseWeighted('a;q=0.5, B , ;q=1, c;x=1;Q=0, d;q=2, e;q=1.5'), [
      { name: 'a', weight: 0.5 },
      { name: 'b', weight: 1 },
      { name: 'c', weight: 0 },
      { name: 'd', weight: 1 },
      { name: 'e', weight: 1 },
    ]);
  });

  test('the key holds each field in its place', () => {
    const headers = ['B', '2', 'A', '1', 'b', '3'];
    assert.equal(secondaryKey([], headers, options()), '');
    assert.equal(secondaryKey(['a', 'b'], headers, options()), '1\u00012,3');
    assert.notEqual(secondaryKey(['a', 'c'], headers, options()), secondaryKey(['c', 'a'], headers, options()));
    assert.deepEqual(pickFields(['a', 'b'], headers), ['a', '1', 'b', '2', 'b', '3']);
  });

  test('law: normalizing a normalized value changes nothing', () => {
    const field = fc.constantFrom('foo', 'accept-language', 'accept-encoding');
    const part = fc.constantFrom('en', 'de', 'gzip', 'identity', ',', ' ', ';q=0', ';q=0.5', ';q=1', '"', '*');
    fc.assert(
      fc.property(field, fc.array(part), (name, parts) => {
        const once = normalizeValue(name, [parts.join('')], options());
        assert.equal(normalizeValue(name, [once], options()), once);
      }),
    );
  });
});
