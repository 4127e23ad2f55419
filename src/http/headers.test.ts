import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FieldNames } from './field-names.ts';
import {
  allValues,
  firstValue,
  joinedValue,
  joinedWith,
  listMembers,
  trimOws,
  withField,
  withoutFields,
  withoutHopByHop,
} from './headers.ts';

const HEADERS = ['A', '1', 'b', '2', 'a', '3'];

describe('headers', () => {
  test('fields are found in any case; first, all and joined lines', () => {
    assert.equal(firstValue(HEADERS, 'a'), '1');
    assert.deepEqual(allValues(HEADERS, 'a'), ['1', '3']);
    assert.equal(joinedValue(HEADERS, 'a'), '1, 3');
    assert.equal(firstValue(HEADERS, 'c'), undefined);
    assert.deepEqual(allValues(HEADERS, 'c'), []);
    assert.equal(joinedValue(HEADERS, 'c'), undefined);
    assert.equal(joinedWith(HEADERS, 'a', '4'), '1, 3, 4');
    assert.equal(joinedWith(HEADERS, 'c', '4'), '4');
  });

  test('a value is never taken for a name', () => {
    assert.equal(firstValue(['x', 'a', 'a', '1'], 'a'), '1');
    assert.deepEqual(withoutFields(['x', 'a', 'a', '1'], new Set(['a'])), ['x', 'a']);
  });

  test('replacing a field leaves one line', () => {
    assert.deepEqual(withField(HEADERS, 'A', '9'), ['b', '2', 'A', '9']);
  });

  test('hop-by-hop fields and what Connection lists are stripped, on every line of it and in any case', () => {
    const rows: [string[], string[]][] = [
      [
        ['Connection', 'close, X-One', 'connection', 'x-TWO', 'X-One', '1', 'x-two', '2', 'X-Three', '3'],
        ['X-Three', '3'],
      ],
      [
        ['Keep-Alive', 'timeout=5', 'A', '1'],
        ['A', '1'],
      ],
      [
        ['Proxy-Connection', 'close', 'Proxy-Authenticate', 'Basic', 'Proxy-Authentication-Info', 'x', 'A', '1'],
        ['A', '1'],
      ],
      [['Proxy-Authorization', 'x', 'TE', 'trailers', 'Trailer', 'X', 'Transfer-Encoding', 'chunked'], []],
      [['Upgrade', 'h2c', 'Connection', 'Upgrade, HTTP2-Settings', 'HTTP2-Settings', 'x'], []],
      [
        ['Connection', ' , ,', 'A', '1'],
        ['A', '1'],
      ],
    ];
    for (const [headers, expected] of rows) assert.deepEqual(withoutHopByHop(headers), expected, headers.join('|'));
  });

  test('stripping also takes the named fields', () => {
    assert.deepEqual(withoutHopByHop(['Age', '1', 'B', '2'], new FieldNames(['age'])), ['B', '2']);
  });

  test('lists lose empty members and optional white space only', () => {
    assert.deepEqual(listMembers([' A ,,\tb', '', 'c\u00a0']), ['a', 'b', 'c\u00a0']);
    assert.equal(trimOws('\t a b \t'), 'a b');
    assert.equal(trimOws(' \t '), '');
  });

  test('law: stripping twice is stripping once, and no hop-by-hop field is left', () => {
    const name = fc.constantFrom('Connection', 'TE', 'X-A', 'x-b', 'Upgrade', 'Date');
    const value = fc.constantFrom('x-a', 'X-B, close', 'trailers', 'date', '');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (lines) => {
        const once = withoutHopByHop(lines.flat());
        assert.deepEqual(withoutHopByHop(once), once);
        assert.equal(once.filter((text, i) => i % 2 === 0 && /^(connection|te|upgrade)$/i.test(text)).length, 0);
      }),
    );
  });
});
