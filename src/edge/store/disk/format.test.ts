import assert from 'node:assert/strict';
import { test } from 'node:test';
import { options } from '#http/examples.suite.ts';
import { secondaryKey } from '#http/vary.ts';
import { createHeadEncoder } from '../head-codec.ts';
import { encodeEntry } from './format.ts';

/** The version written into files, and the keys of variants in them. */
const VERSION = 2;
const KEYS: readonly (readonly [fields: readonly string[], headers: readonly string[], key: string])[] = [
  [[], ['A', '1'], ''],
  [['a'], [], '\u0000'],
  [['a', 'b'], ['B', ' 2 , 3', 'A', '1', 'B', '4'], '1\u00012,3,4'],
  [['a'], ['A', '"1, 2"'], '"1, 2"'],
  [
    ['accept-encoding'],
    ['Accept-Encoding', 'GZIP;q=1.0, br;q=0, identity;q=0, zstd;q=0.50'],
    'gzip,identity;q=0,zstd;q=0.5',
  ],
  [['accept-language'], ['Accept-Language', 'de;q=0.5, EN, fr'], 'en,fr,de;q=0.5'],
];

test('a change of how variants are keyed changes FORMAT_VERSION, since their keys lie on disk', () => {
  assert.equal(encodeEntry('', [], createHeadEncoder())[0]?.readUInt32LE(4), VERSION);
  for (const [fields, headers, key] of KEYS) assert.equal(secondaryKey(fields, headers, options()), key);
});
