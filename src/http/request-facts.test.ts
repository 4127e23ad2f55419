import assert from 'node:assert/strict';
import { test } from 'node:test';
import { get, request } from './examples.suite.ts';
import { readRequestFacts } from './request-facts.ts';

test('a plain request has none of the facts', () => {
  const { sentHeaders, ...facts } = readRequestFacts({ method: 'GET', uri: 'http://a/', headers: ['Host', 'a'] });
  assert.deepEqual(sentHeaders(), ['Host', 'a']);
  assert.deepEqual(facts, {
    method: 'GET',
    uri: 'http://a/',
    hasBody: false,
    hasAuthorization: false,
    directives: undefined,
    ifNoneMatch: undefined,
    ifModifiedSince: undefined,
    hasOriginCondition: false,
    ifRange: undefined,
    range: undefined,
  });
});

test('a body that no field speaks of counts', () => {
  const input = { method: 'GET', uri: 'http://a/', headers: [], hasUnframedBody: true };
  assert.equal(readRequestFacts(input).hasBody, true);
});

test('each field is noticed in any case', () => {
  const facts = get(
    ...['AUTHORIZATION', 'x', 'if-none-match', '"a"', 'If-None-Match', '"b"', 'If-Modified-Since', 'd'],
    ...['If-Range', '"c"', 'Range', 'bytes=0-1', 'Cache-Control', 'no-cache', 'cache-control', 'max-age=5'],
  );
  assert.equal(facts.hasAuthorization, true);
  assert.equal(facts.ifNoneMatch, '"a", "b"');
  assert.equal(facts.ifModifiedSince, 'd');
  assert.equal(facts.ifRange, '"c"');
  assert.equal(facts.range, 'bytes=0-1');
  assert.equal(facts.directives?.noCache, true);
  assert.equal(facts.directives?.maxAge, 5);
  assert.equal(get('If-Match', '*').hasOriginCondition, true);
  assert.equal(get('If-Unmodified-Since', 'x').hasOriginCondition, true);
});

test('a request has content if Content-Length is above 0 or Transfer-Encoding is present', () => {
  assert.equal(get('Content-Length', '0').hasBody, false);
  assert.equal(get('Content-Length', '00').hasBody, false);
  assert.equal(get('Content-Length', '1').hasBody, true);
  assert.equal(get('Transfer-Encoding', 'chunked').hasBody, true);
});

test('Range means something on GET only', () => {
  assert.equal(request('HEAD', 'Range', 'bytes=0-1').range, undefined);
});

test('Pragma: no-cache counts only without Cache-Control', () => {
  assert.equal(get('Pragma', 'foo, No-Cache').directives?.noCache, true);
  assert.equal(get('Pragma', 'foo').directives, undefined);
  assert.equal(get('Pragma', 'no-cache', 'Cache-Control', 'foo').directives?.noCache, false);
});
