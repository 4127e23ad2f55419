import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { at, get, NOW, options, request, store, tryStore, URI } from './examples.suite.ts';
import { allValues, firstValue } from './headers.ts';
import type { CacheOptions } from './options.ts';
import { readRequestFacts } from './request-facts.ts';
import type { RequestFacts, Stored } from './stored.ts';
import {
  freshen,
  hasValidator,
  isErrorStatus,
  isUsableOnError,
  unconditionalHeaders,
  updateFromHead,
  validationHeaders,
  variantOf304,
} from './validate.ts';

const LATER = NOW + 30_000;
const EXCHANGE = { requestAt: LATER - 500, responseAt: LATER };
const body = { bytes: 'the body' };
const old = ['Cache-Control', 'max-age=10', 'Content-Length', '8', 'X-A', '1', 'X-B', '1'];
const tagged = { ...store([...old, 'ETag', '"a"', 'Last-Modified', at(-100)]), body };
const weak = { ...store([...old, 'ETag', 'W/"a"']), body };
const dated = { ...store([...old, 'Last-Modified', at(-100)]), body };

function apply(
  stored: typeof tagged,
  headers304: string[],
  facts: RequestFacts = get(),
  site: Partial<CacheOptions> = {},
  invalidatedAt?: number,
) {
  return freshen(stored, facts, headers304, EXCHANGE, options(site), invalidatedAt);
}

function freshened(stored: typeof tagged, headers304: string[], facts?: RequestFacts, site?: Partial<CacheOptions>) {
  const outcome = apply(stored, headers304, facts, site);
  assert.equal(outcome.kind, 'freshened');
  // The assertion above has checked the kind.
  return outcome as Extract<typeof outcome, { kind: 'freshened' }>;
}

describe('the conditional request', () => {
  test('the conditional request has our conditions, verbatim, in place of the client’s, and no Range', () => {
    const headers = [
      'X',
      '1',
      'If-None-Match',
      '"z"',
      'if-modified-since',
      'x',
      'Range',
      'bytes=0-1',
      'If-Range',
      '"z"',
      'If-Match',
      '*',
    ];
    assert.deepEqual(validationHeaders(headers, tagged), [
      'X',
      '1',
      'If-None-Match',
      '"a"',
      'If-Modified-Since',
      at(-100),
    ]);
    assert.deepEqual(validationHeaders([], weak), ['If-None-Match', 'W/"a"']);
    assert.deepEqual(validationHeaders([], dated), ['If-Modified-Since', at(-100)]);
    assert.deepEqual(validationHeaders([], tagged, [weak, tagged]).slice(0, 2), ['If-None-Match', '"a", W/"a"']);
    assert.deepEqual(validationHeaders([], undefined, [tagged, weak]), ['If-None-Match', '"a", W/"a"']);
    assert.deepEqual(unconditionalHeaders(headers), ['X', '1']);
  });

  test('the conditional request needs a valid tag or date', () => {
    assert.equal(hasValidator(tagged), true);
    assert.equal(hasValidator(dated), true);
    assert.equal(hasValidator(store(['Cache-Control', 'max-age=10', 'Last-Modified', 'x'])), false);
  });
});

describe('a 304', () => {
  test('a 304 counts for the stored response only if its validators name it', () => {
    const rows: [Stored, string[], boolean][] = [
      [tagged, [], true],
      [tagged, ['ETag', '"a"'], true],
      [tagged, ['ETag', '"b"'], false],
      [tagged, ['ETag', 'W/"a"'], true],
      [tagged, ['ETag', 'W/"b"'], false],
      [weak, ['ETag', 'W/"a"'], true],
      [weak, ['ETag', '"a"'], true],
      [weak, ['ETag', '"b"'], false],
      [dated, ['ETag', '"a"'], false],
      [dated, ['ETag', 'W/"a"'], true],
      [dated, ['Last-Modified', at(-100)], true],
      [dated, ['Last-Modified', at(-99)], false],
      [tagged, ['ETag', '"a"', 'Last-Modified', at(-99)], true],
    ];
    for (const [stored, headers304, expected] of rows) {
      const outcome = freshen(stored, get(), headers304, EXCHANGE, options());
      assert.equal(outcome.kind === 'freshened', expected, `${stored.etag} ${headers304.join(' ')}`);
    }
  });

  test('a 304 replaces every line of its fields, adds new ones, and leaves those that describe the bytes', () => {
    const { stored, afterwards } = freshened(tagged, [
      ...[
        'ETag',
        '"a"',
        'Date',
        at(30),
        'Cache-Control',
        'max-age=99',
        'x-a',
        '2',
        'x-a',
        '3',
        'X-New',
        '1',
        'Age',
        '4',
      ],
      ...[
        'Content-Length',
        '0',
        'Content-Encoding',
        'br',
        'Content-Range',
        'bytes 0-1/2',
        'Transfer-Encoding',
        'chunked',
      ],
      ...['Connection', 'X-Hop', 'X-Hop', '1'],
    ]);
    assert.equal(afterwards, 'replace');
    assert.deepEqual(stored.headers, [
      ...['Content-Length', '8', 'X-B', '1', 'Last-Modified', at(-100), 'ETag', '"a"', 'Date', at(30)],
      ...['Cache-Control', 'max-age=99', 'x-a', '2', 'x-a', '3', 'X-New', '1'],
    ]);
    assert.equal(stored.lifetimeMs, 99_000);
    assert.equal(stored.initialAgeMs, 4500);
    assert.equal(stored.responseAt, LATER);
    assert.equal(stored.requestAt, LATER - 500);
    assert.equal(stored.body, body);
  });

  test('a 304 without a Date keeps the stored one, so the age continues from there', () => {
    const { stored } = freshened(tagged, []);
    assert.equal(stored.initialAgeMs, 30_000);
  });

  test('a 304 whose update may not be stored is used once, and the stored response is dropped', () => {
    for (const headers304 of [
      ['Cache-Control', 'no-store'],
      ['Cache-Control', 'private'],
      ['Vary', '*'],
      ['Set-Cookie', 'a=b'],
    ]) {
      const { stored, afterwards } = freshened(tagged, [...headers304, 'X-A', '2']);
      assert.equal(afterwards, 'delete', headers304.join(' '));
      assert.equal(firstValue(stored.headers, 'x-a'), '2');
      assert.equal(stored.body, body);
    }
  });

  test('a 304 for a client that authenticated leaves the shared response unchanged', () => {
    assert.equal(freshened(tagged, ['X-A', '2'], get('Authorization', 'x')).afterwards, 'keep');
    assert.equal(
      freshened(tagged, ['Cache-Control', 'public, max-age=9'], get('Authorization', 'x')).afterwards,
      'replace',
    );
  });

  test('a 304 to a request from before a purge does not bring the purged response back', () => {
    const outcome = apply(tagged, [], get(), {}, LATER - 100);
    assert.equal(outcome.kind === 'freshened' && outcome.afterwards, 'delete');
  });

  test('a 304 to a client that forbids storing still updates the stored response', () => {
    const facts = get('Cache-Control', 'no-store');
    assert.equal(freshened(tagged, [], facts, { requestDirectives: true }).afterwards, 'replace');
  });

  test('a 304 keeps a part a part', () => {
    const part = store([...old.slice(0, 2), 'ETag', '"a"', 'Content-Range', 'bytes 2-4/10'], { status: 206 });
    const outcome = freshen(part, get('Range', 'bytes=2-4'), ['ETag', '"a"'], EXCHANGE, options());
    assert.equal(outcome.kind, 'freshened');
    assert.deepEqual(outcome.kind === 'freshened' && outcome.stored.range, { first: 2, last: 4, complete: 10 });
  });

  test('a 304 for another variant’s tag gives that variant the request’s own key', () => {
    const variant = store([...old, 'ETag', '"a"', 'Vary', 'Foo'], { request: get('Foo', '1') });
    const outcome = freshen(variant, get('Foo', '2'), ['ETag', '"a"'], EXCHANGE, options());
    assert.equal(outcome.kind === 'freshened' && outcome.stored.varyKey, '2');
  });

  test('a 304 names one of the offered variants, or the only one', () => {
    const rows: [Stored | undefined, Stored[], string[], Stored | undefined][] = [
      [undefined, [weak, tagged], ['ETag', '"a"'], tagged],
      [undefined, [weak, tagged], ['ETag', 'W/"a"'], weak],
      [undefined, [tagged], ['ETag', 'W/"a"'], tagged],
      [undefined, [tagged], [], tagged],
      [undefined, [tagged, weak], [], undefined],
      [tagged, [], ['ETag', 'W/"a"'], tagged],
      [tagged, [], ['ETag', '"z"'], undefined],
      [tagged, [], [], tagged],
    ];
    for (const [selected, others, headers304, expected] of rows)
      assert.equal(variantOf304({ selected, others }, headers304), expected);
  });

  test('a 304 with a strong tag confirms the weak one only of the selected variant, when no other tag was named', () => {
    const other = { ...weak, etag: 'W/"b"' };
    const rows: [Stored | undefined, Stored[], Stored | undefined][] = [
      [weak, [], weak],
      [weak, [weak], weak],
      [weak, [dated], weak],
      [weak, [other], undefined],
      [weak, [tagged], tagged],
      [undefined, [weak], undefined],
      [other, [], undefined],
    ];
    for (const [selected, others, expected] of rows)
      assert.equal(variantOf304({ selected, others }, ['ETag', '"a"']), expected);
    assert.equal(freshened(weak, ['ETag', '"a"']).stored.etag, 'W/"a"', 'the stored bytes keep their tag');
    assert.deepEqual(allValues(freshened(weak, ['ETag', '"a"']).stored.headers, 'etag'), ['W/"a"']);
  });

  test('law: a 304 never changes the length, the coding or the body, and adds no hop-by-hop field', () => {
    const name = fc.constantFrom(
      'Content-Length',
      'content-encoding',
      'Content-Range',
      'X-A',
      'Connection',
      'TE',
      'Age',
      'Date',
      'Cache-Control',
      'ETag',
    );
    const value = fc.constantFrom('0', '"a"', 'content-length', 'max-age=5', 'no-store', at(20), 'x-a', '');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (lines) => {
        const outcome = apply(tagged, lines.flat());
        if (outcome.kind === 'mismatch') return;
        assert.deepEqual(allValues(outcome.stored.headers, 'content-length'), ['8']);
        assert.deepEqual(allValues(outcome.stored.headers, 'content-encoding'), []);
        assert.equal(outcome.stored.body, body);
        for (const hop of ['connection', 'te', 'age']) assert.deepEqual(allValues(outcome.stored.headers, hop), []);
      }),
    );
  });
});

describe('a HEAD response', () => {
  const head = (status: number, headers: string[], stored: Stored = tagged) =>
    updateFromHead(stored, request('HEAD'), { status, reason: 'OK', headers }, EXCHANGE, options(), 8);

  test('a HEAD response with equal validators and length updates the stored response', () => {
    for (const headers of [[], ['ETag', '"a"', 'Content-Length', '8'], ['Last-Modified', at(-100)]]) {
      const outcome = head(200, [...headers, 'X-A', '2', 'Cache-Control', 'max-age=99']);
      assert.equal(outcome.kind, 'updated');
      const stored = outcome.kind === 'updated' ? outcome.stored : tagged;
      assert.equal(stored.isInvalid, false);
      assert.equal(firstValue(stored.headers, 'x-a'), '2');
      assert.equal(stored.lifetimeMs, 99_000);
    }
  });

  test('a HEAD response with another validator or length marks it invalid', () => {
    for (const headers of [
      ['ETag', '"b"'],
      ['ETag', 'W/"a"'],
      ['Last-Modified', at(-99)],
      ['Content-Length', '9'],
    ]) {
      const outcome = head(200, headers);
      assert.deepEqual(outcome, { kind: 'updated', stored: { ...tagged, isInvalid: true } });
    }
  });

  test('a HEAD response that forbids storing deletes it, and another status says nothing', () => {
    assert.deepEqual(head(200, ['Cache-Control', 'no-store']), { kind: 'delete' });
    for (const status of [206, 304, 404, 410, 500]) assert.deepEqual(head(status, []), { kind: 'unchanged' });
    assert.deepEqual(head(200, [], store(old, { status: 404 })), { kind: 'unchanged' });
  });

  test('a HEAD response to a client that authenticated changes nothing', () => {
    const facts = readRequestFacts({ method: 'HEAD', uri: URI, headers: ['Authorization', 'x'] });
    const response = { status: 200, reason: 'OK', headers: ['X-A', '2'] };
    assert.deepEqual(updateFromHead(tagged, facts, response, EXCHANGE, options(), 8), { kind: 'unchanged' });
  });
});

describe('a stale response after a failed validation', () => {
  const cc = (value: string) => store(['Cache-Control', value, 'ETag', '"a"']);
  const rows: [Stored, staleSeconds: number, unreachable: boolean, errorStatus: boolean][] = [
    [cc('max-age=10'), 1, true, false],
    [cc('max-age=10'), 86_400, true, false],
    [cc('max-age=10'), 86_401, false, false],
    [cc('max-age=10, stale-if-error=5'), 5, true, true],
    [cc('max-age=10, stale-if-error=5'), 6, false, false],
    [cc('max-age=10, stale-if-error=5, must-revalidate'), 1, false, false],
    [cc('max-age=10, proxy-revalidate'), 1, false, false],
    [cc('max-age=10, no-cache'), 1, false, false],
    [cc('s-maxage=10'), 1, false, false],
    [cc('s-maxage=10, stale-if-error=5'), 1, true, true],
    [{ ...cc('max-age=10'), isInvalid: true }, 1, false, false],
  ];
  for (const [stored, staleSeconds, unreachable, errorStatus] of rows) {
    test(`stale use, ${firstValue(stored.headers, 'cache-control')}, ${staleSeconds} s stale: ${unreachable}, ${errorStatus}`, () => {
      const now = NOW + 10_000 + staleSeconds * 1000;
      assert.equal(isUsableOnError(stored, 'unreachable', now, options()), unreachable);
      assert.equal(isUsableOnError(stored, 'errorStatus', now, options()), errorStatus);
    });
  }

  test('a stale response is not used if the site allows none; an error is 500, 502, 503 or 504', () => {
    assert.equal(
      isUsableOnError(cc('max-age=10'), 'unreachable', NOW + 11_000, options({ staleCapSeconds: 0 })),
      false,
    );
    assert.deepEqual([500, 501, 502, 503, 504, 505, 404].filter(isErrorStatus), [500, 502, 503, 504]);
  });

  test('the example responses of this file are storable', () => assert.equal(tryStore(old).kind, 'store'));
});
