import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { at, get, options, store } from './examples.suite.ts';
import { putVariant, selectVariant, taggedVariants, type Variants } from './variants.ts';

function variant(vary: string, requestHeaders: string[], ...headers: string[]) {
  return store(['Cache-Control', 'max-age=60', 'Vary', vary, ...headers], { request: get(...requestHeaders) });
}

describe('variants', () => {
  const plain = store(['Cache-Control', 'max-age=60']);
  const one = variant('Foo', ['Foo', '1']);
  const two = variant('Foo', ['Foo', '2']);
  const absent = variant('Foo', []);
  const bar = variant('Foo, Bar', ['Foo', '1', 'Bar', '1'], 'Date', at(-5));
  const newerBar = variant('Bar', ['Bar', '1'], 'Date', at(5));

  test('the variant whose fields the request repeats is selected, of several the latest by Date', () => {
    const rows: [Variants, string[], unknown][] = [
      [[], [], undefined],
      [[plain], ['Foo', '1'], plain],
      [[one, two], ['foo', '2'], two],
      [[one, two], ['foo', '3'], undefined],
      [[one, absent], [], absent],
      [[one, absent], ['Foo', ''], undefined],
      [[one, bar], ['Foo', '1', 'Bar', '1'], one],
      [[bar, one, newerBar], ['Foo', '1', 'Bar', '1'], newerBar],
      [[bar, one], ['Foo', '1', 'Bar', '2'], one],
      [[plain, one], ['Foo', '1'], plain],
      [[one, plain], ['Foo', '1'], one],
    ];
    for (const [variants, headers, expected] of rows) {
      assert.equal(selectVariant(variants, get(...headers), options()), expected, headers.join(' '));
    }
  });

  test('a new variant replaces its like and comes first; the oldest leave beyond the limit', () => {
    const again = variant('Foo', ['Foo', '1']);
    assert.deepEqual(putVariant([two, one, plain], again, options()), {
      variants: [again, two, plain],
      removed: [one],
    });
    const limited = putVariant([two, absent, plain], one, options({ maxVariants: 2 }));
    assert.deepEqual(limited, { variants: [one, two], removed: [absent, plain] });
    assert.deepEqual(putVariant([two], one, options({ maxVariants: 1 })), { variants: [one], removed: [two] });
  });

  test('a part does not replace a whole response that arrived while it was in flight', () => {
    const part = store(['Cache-Control', 'max-age=60', 'Content-Range', 'bytes 0-1/5'], {
      status: 206,
      requestAt: plain.responseAt - 5,
    });
    assert.deepEqual(putVariant([plain], part, options()), { variants: [plain], removed: [part] });
    const later = { ...part, requestAt: plain.responseAt + 5 };
    assert.deepEqual(putVariant([plain], later, options()), { variants: [later], removed: [plain] });
    assert.deepEqual(putVariant([part], plain, options()), { variants: [plain], removed: [part] });
  });

  test('variants offered for validation are whole 200s with a tag', () => {
    const tagged = variant('Foo', ['Foo', '1'], 'ETag', '"a"');
    const part = store(['Cache-Control', 'max-age=1', 'ETag', '"a"', 'Content-Range', 'bytes 0-1/5'], { status: 206 });
    const missing = store(['Cache-Control', 'max-age=1', 'ETag', '"a"'], { status: 404 });
    assert.deepEqual(taggedVariants([one, tagged, part, missing, { ...tagged, isInvalid: true }]), [tagged]);
  });

  test('a stored response in the one preferred language is used where the site allows it', () => {
    const stored = variant('Accept-Language, Foo', ['Accept-Language', 'de', 'Foo', '1'], 'Content-Language', 'DE');
    const rows: [string, string, boolean, boolean][] = [
      ['de, en;q=0.5', '1', true, true],
      ['de, en;q=0.5', '1', false, false],
      ['en;q=0.5, de', '1', true, true],
      ['de, en', '1', true, false],
      ['en, de;q=0.5', '1', true, false],
      ['de, en;q=0.5', '2', true, false],
      ['', '1', true, false],
    ];
    for (const [languages, foo, matchLanguage, isSelected] of rows) {
      const request = get('Accept-Language', languages, 'Foo', foo);
      const selected = selectVariant([stored], request, options({ matchLanguage }));
      assert.equal(selected, isSelected ? stored : undefined, languages);
    }
  });
});
