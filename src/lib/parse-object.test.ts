import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseObject } from './parse-object.ts';

test('a JSON object is parsed, and nothing else is', () => {
  assert.deepEqual(parseObject(' {"a":[1]}'), { a: [1] });
  for (const text of ['[]', '[{}]', 'null', '"a"', '1', 'true', '', '{', '{}{}'])
    assert.equal(parseObject(text), undefined, text);
});
