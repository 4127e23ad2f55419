import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coversRequest, isPrefix } from './coverage.ts';
import { get, request, store } from './examples.suite.ts';
import { wholeSection } from './request-fields.ts';

const whole = store(['Cache-Control', 'max-age=60']);
const part = store(['Cache-Control', 'max-age=60', 'ETag', '"a"', 'Content-Range', 'bytes 2-5/10'], { status: 206 });
const tail = store(['Cache-Control', 'max-age=60', 'Content-Range', 'bytes 6-9/10'], { status: 206 });

test('a whole response covers everything, a part only single ranges inside it', () => {
  const rows: [typeof whole, ReturnType<typeof get>, boolean][] = [
    [whole, get(), true],
    [whole, get('Range', 'bytes=50-60'), true],
    [part, get(), false],
    [part, request('HEAD', 'Range', 'bytes=2-3'), false],
    [part, get('Range', 'bytes=2-5'), true],
    [part, get('Range', 'bytes=3-4'), true],
    [part, get('Range', 'bytes=1-4'), false],
    [part, get('Range', 'bytes=3-6'), false],
    [part, get('Range', 'bytes=3-'), false],
    [part, get('Range', 'bytes=-7'), false],
    [part, get('Range', 'bytes=10-'), true],
    [part, get('Range', 'bytes=2-3, 4-5'), false],
    [part, get('Range', 'lines=2-3'), false],
    [part, get('Range', 'bytes=2-3', 'If-Range', '"a"'), true],
    [part, get('Range', 'bytes=2-3', 'If-Range', '"b"'), false],
    [tail, get('Range', 'bytes=7-'), true],
    [tail, get('Range', 'bytes=-2'), true],
    [tail, get('Range', 'bytes=-4'), true],
    [tail, get('Range', 'bytes=-5'), false],
    [tail, get('Range', 'bytes=7-100'), true],
  ];
  for (const [stored, facts, expected] of rows) {
    assert.equal(
      coversRequest(facts, stored),
      expected,
      `${facts.method} ${wholeSection(facts.sentHeaders()).join(' ')}`,
    );
  }
});

test('only a part that starts at the first byte is a prefix', () => {
  assert.equal(isPrefix(whole), false);
  assert.equal(isPrefix(part), false);
  assert.equal(
    isPrefix(store(['Cache-Control', 'max-age=60', 'Content-Range', 'bytes 0-5/10'], { status: 206 })),
    true,
  );
});
