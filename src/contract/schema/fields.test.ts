import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  choice,
  choices,
  commaList,
  type Field,
  flag,
  identifier,
  integer,
  longText,
  matching,
  optional,
  optionalHttpUrl,
  originList,
  text,
} from './fields.ts';

const NO = Symbol('refused');

const LIST = commaList({
  maxEntries: 2,
  maxLength: 3,
  expects: { 'zh-CN': '', en: '' },
  each: { 'zh-CN': '', en: '' },
});

/** Field, what is on the wire, what it becomes. */
const ROWS: readonly [string, Field, unknown, unknown][] = [
  ['flag', flag, '0', false],
  ['flag', flag, 1, true],
  ['flag', flag, true, NO],
  ['flag', flag, '', NO],
  ['flag', flag, 2, NO],
  ['identifier', identifier, 1, 1],
  ['identifier', identifier, '2147483647', 2147483647],
  ['identifier', identifier, 2147483648, NO],
  ['identifier', identifier, '007', NO],
  ['identifier', identifier, 0, NO],
  ['identifier', identifier, -1, NO],
  ['identifier', identifier, 1.5, NO],
  ['identifier', identifier, '1 ', NO],
  ['identifier', identifier, '0x1', NO],
  ['identifier', identifier, Number.NaN, NO],
  ['integer', integer(0, 10), '0', 0],
  ['integer', integer(0, 10), 11, NO],
  ['text', text({ min: 1, max: 3 }), 12.5, NO],
  ['text', text({ min: 1, max: 4 }), 12.5, '12.5'],
  ['text', text({ min: 1, max: 3 }), '', NO],
  ['text', text({ max: 2 }), '🚀', '🚀'],
  ['text', text({ max: 9 }), 'a\0', NO],
  ['text', text({ max: 9 }), '\udc00', NO],
  ['text', text({ max: 9 }), null, NO],
  ['matching', matching(/^[a-c]{1,2}$/, LIST.expects), 'ab', 'ab'],
  ['matching', matching(/^[a-c]{1,2}$/, LIST.expects), 'ab\n', NO],
  ['matching', matching(/^\d$/, LIST.expects), 7, '7'],
  ['longText', longText(3), 'é', 'é'],
  ['longText', longText(3), 'éé', NO],
  ['longText', longText(3), 'abc', 'abc'],
  ['longText', longText(9), '\ud800', NO],
  ['commaList', LIST, ' a ,b', ['a', 'b']],
  ['commaList', LIST, ',a,, ,', ['a']],
  ['commaList', LIST, '', []],
  ['commaList', LIST, 7, ['7']],
  ['commaList', LIST, ['a', 7, ''], ['a', '7']],
  ['commaList', LIST, 'a,b,c', NO],
  ['commaList', LIST, ['a,b'], NO],
  ['commaList', LIST, 'abcd', NO],
  ['commaList', LIST, ['a\0'], NO],
  ['commaList', LIST, [['a']], NO],
  ['commaList', LIST, [true], NO],
  ['commaList', LIST, null, NO],
  ['choice', choice(['1', 'x'], { 'zh-CN': '', en: '' }), 1, '1'],
  ['choice', choice(['1', 'x'], { 'zh-CN': '', en: '' }), 'x', 'x'],
  ['choice', choice(['1', 'x'], { 'zh-CN': '', en: '' }), '2', NO],
  ['choices', choices(['a', 'b'], { 'zh-CN': '', en: '' }), ['b', 'a', 'b'], ['b', 'a']],
  ['choices', choices(['a', 'b'], { 'zh-CN': '', en: '' }), [], NO],
  ['url', optionalHttpUrl, '', ''],
  ['url', optionalHttpUrl, 'HTTPS://a.example/b?c', 'HTTPS://a.example/b?c'],
  ['url', optionalHttpUrl, 'http://', NO],
  ['url', optionalHttpUrl, 'http://a b/', NO],
  ['url', optionalHttpUrl, 'javascript:alert(1)', NO],
  ['url', optionalHttpUrl, 'http://a.example/\n', NO],
  ['url', optionalHttpUrl, 'http://a.example/é?ü', 'http://a.example/é?ü'],
  ['url', optionalHttpUrl, `http://a.example/${'é'.repeat(167)}`, `http://a.example/${'é'.repeat(167)}`],
  ['url', optionalHttpUrl, `http://a.example/${'é'.repeat(168)}`, NO],
  ['url', optionalHttpUrl, 'http://user@a.example/', NO],
  ['url', optionalHttpUrl, 'http://user:secret@a.example/', NO],
  ['url', optionalHttpUrl, 'http://:secret@a.example/', NO],
  ['url', optionalHttpUrl, 'http://@a.example/', NO],
  ['url', optionalHttpUrl, 'http://:@a.example/', NO],
  ['url', optionalHttpUrl, 'http://@a.example', NO],
  ['url', optionalHttpUrl, 'http:///a.example/', NO],
  ['url', optionalHttpUrl, 'http://\\\\a.example/', NO],
  ['url', optionalHttpUrl, 'http://a.example\\b/', NO],
  ['url', optionalHttpUrl, 'http://a.example?b=@c', 'http://a.example?b=@c'],
  ['url', optionalHttpUrl, 'http://a.example/@b', 'http://a.example/@b'],
  ['url', optionalHttpUrl, 'http://a.example', 'http://a.example'],
  ['url', optionalHttpUrl, 'http://[::1]:8080/', 'http://[::1]:8080/'],
  ['url', optionalHttpUrl, 'http://bücher.example/', 'http://bücher.example/'],
  ['origins', originList, 'a\r\nb\n\n c ', ['a', 'b', 'c']],
  ['origins', originList, [' a ', '', 1], ['a', '1']],
  ['origins', originList, '', []],
  ['origins', originList, [], []],
  ['origins', originList, '\n'.repeat(1000), []],
  ['origins', originList, `${'\n'.repeat(1000)}late`, ['late']],
  ['origins', originList, Array(50).fill('a'), Array(50).fill('a')],
  ['origins', originList, Array(51).fill('a'), NO],
  ['origins', originList, Array(51).fill(' '), []],
  ['origins', originList, [...Array(1000).fill(''), 'late'], ['late']],
  ['origins', originList, ['a', null], NO],
  ['origins', originList, ['a', ['b']], NO],
  ['origins', originList, { 0: 'a' }, NO],
  ['origins', originList, 7, ['7']],
  ['optional', optional(identifier), undefined, undefined],
  ['optional', optional(identifier), '5', 5],
];

describe('fields', () => {
  for (const [index, [kind, { schema }, wire, expected]] of ROWS.entries()) {
    const shown = JSON.stringify(wire)?.slice(0, 40);
    test(`${index} ${kind}: ${shown} ${expected === NO ? 'is refused' : 'is read'}`, () => {
      const result = schema.safeParse(wire);
      assert.equal(result.success, expected !== NO);
      if (result.success) assert.deepEqual(result.data, expected);
    });
  }

  test('a wrong entry of a list is named by its position', () => {
    const { error } = originList.schema.safeParse(['a', 'b', 'c\0']);
    assert.deepEqual(error?.issues[0]?.path, [2]);
  });

  test('a switch is written as text', () => {
    assert.deepEqual([flag.schema.encode(true), flag.schema.encode(false)], ['1', '0']);
  });
});
