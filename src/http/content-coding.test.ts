import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { acceptsCodings, type ContentCoding, chooseCoding } from './content-coding.ts';

const CHOICES: readonly (readonly [acceptEncoding: string | undefined, coding: ContentCoding | undefined])[] = [
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZip', 'gzip'],
  ['deflate', undefined],
  ['compress, deflate', undefined],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, zstd', 'zstd'],
  ['zstd', 'zstd'],
  ['gzip;q=1.0, br;q=0.9', 'gzip'],
  ['br;q=0.5, zstd;q=0.5, gzip;q=0.5', 'br'],
  ['br;q=0.001', 'br'],
  ['gzip;q=0', undefined],
  ['gzip;q=0.000', undefined],
  ['gzip ; q=0, br', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['gzip, gzip;q=0', undefined],
  ['gzip;q=0, x-gzip', undefined],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['gzip, *;q=0', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['br;q=0, gzip;q=0, *', undefined], // zstd has to be named
  ['zstd;q=0.1, *;q=0', 'zstd'],
  ['identity;q=0.5, gzip;q=0.4', undefined],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['identity, gzip', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['identity;q=0', undefined], // nothing is left: the content as it is, rather than nothing
  ['gzip;q=nonsense', 'gzip'],
  [', ,gzip,', 'gzip'],
  [';q=1', undefined],
];

const ACCEPTED: readonly (readonly [acceptEncoding: string | undefined, contentEncoding: string, accepts: boolean])[] =
  [
    [undefined, 'gzip', true],
    ['', 'gzip', false],
    ['', 'identity', true],
    ['identity', 'gzip', false],
    ['gzip', 'gzip', true],
    ['gzip', 'x-gzip', true],
    ['x-gzip', 'GZIP', true],
    ['gzip;q=0', 'gzip', false],
    ['br', 'gzip', false],
    ['*', 'exi', true],
    ['gzip;q=0, *', 'gzip', false],
    ['gzip, br', 'gzip, br', true],
    ['gzip', 'gzip, br', false],
    ['gzip', '', true],
  ];

describe('content codings', () => {
  test('the client gets the coding that it weighs most', () => {
    for (const [acceptEncoding, coding] of CHOICES) {
      assert.equal(chooseCoding(acceptEncoding), coding, String(acceptEncoding));
    }
  });

  test('a coding that is not among those that exist is not chosen', () => {
    const rows = [
      ['gzip, deflate, br, zstd', 'br'],
      ['zstd, gzip', 'gzip'],
      ['zstd', undefined],
    ] as const;
    for (const [accepted, coding] of rows) assert.equal(chooseCoding(accepted, ['br', 'gzip']), coding, accepted);
  });

  test('a coding that is already there serves clients that accept every layer of it', () => {
    for (const [acceptEncoding, contentEncoding, accepts] of ACCEPTED) {
      assert.equal(acceptsCodings(acceptEncoding, contentEncoding), accepts, `${acceptEncoding} <- ${contentEncoding}`);
    }
  });
});
