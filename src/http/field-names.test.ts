import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FieldNames } from './field-names.ts';

describe('sets of field names', () => {
  test('a set of field names has its names in any case, and no others', () => {
    const names = new FieldNames(['via', 'age', 'access-control-allow-credentials']);
    const rows: readonly (readonly [name: string, expected: boolean])[] = [
      ['Via', true],
      ['AGE', true],
      ['Access-Control-Allow-Credentials', true],
      ['Access-Control-Allow-Credential', false],
      ['ETag', false],
      ['vib', false],
      ['', false],
    ];
    for (const [name, expected] of rows) assert.equal(names.has(name), expected, name);
    assert.equal(names.with('etag').has('ETag'), true);
    assert.equal(new FieldNames([]).has(''), false);
  });

  test('law: a set of field names has what a set of lower-case texts has', () => {
    const name = fc.string({ maxLength: 40 });
    fc.assert(
      fc.property(fc.array(name), name, (members, asked) => {
        const lower = new Set(members.map((member) => member.toLowerCase()));
        const names = new FieldNames(lower);
        for (const one of [...members, asked]) assert.equal(names.has(one), lower.has(one.toLowerCase()));
      }),
    );
  });
});
