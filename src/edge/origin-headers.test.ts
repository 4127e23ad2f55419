import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cdnIdOf, isLoop, originHeaders } from './origin-headers.ts';

const CDN_ID = cdnIdOf('1f2e3d4c');

describe('headers towards the origin', () => {
  const address = ['X-Forwarded-For', '192.0.2.9', 'X-Real-IP', '192.0.2.9'];
  const own = [...address, 'X-Forwarded-Proto', 'http', 'X-Forwarded-Host', 'h.example'];
  const rows: readonly (readonly [what: string, received: readonly string[], expected: readonly string[]])[] = [
    [
      'end-to-end fields pass in order, with their case and duplicates',
      ['A', '1', 'a', '2', 'B', ''],
      ['A', '1', 'a', '2', 'B', ''],
    ],
    [
      'hop-by-hop fields and what Connection lists do not',
      ['Connection', 'x-a, close', 'X-A', '1', 'TE', 'gzip', 'Upgrade', 'h2c'],
      [],
    ],
    [
      'a client cannot claim earlier hops',
      ['X-Forwarded-For', '1.1.1.1', 'X-Forwarded-Host', 'evil', 'Forwarded', 'for=evil'],
      [],
    ],
    [
      'a client cannot rewrite the target',
      ['X-Original-URL', '/admin', 'X-Rewrite-URL', '/admin', 'X-HTTP-Method-Override', 'DELETE'],
      [],
    ],
    [
      'a client cannot claim another host, scheme, path or address by other fields that origins read',
      [
        'X-Host',
        'evil',
        'x-forwarded-scheme',
        'https',
        'X-Request-URI',
        '/',
        'CF-Connecting-IP',
        '1.1.1.1',
        'Proxy',
        'x',
      ],
      [],
    ],
    [
      'a name that an origin may read as a forwarding field does not pass; other underscores do',
      [
        'X_Forwarded_Host',
        'evil',
        'x-forwarded_for',
        '1',
        'Transfer_Encoding',
        'x',
        'CONTENT_LENGTH',
        '1',
        'my_token',
        'a',
      ],
      ['my_token', 'a'],
    ],
    [
      'a name that an origin may read as a field of Vary does not pass',
      ['Accept_Encoding', 'evil', 'If_None_Match', '*'],
      [],
    ],
    ['Host and Expect are not passed on', ['Host', 'h.example', 'Expect', '100-continue'], []],
    ['listing our own fields in Connection does not remove them', ['Connection', 'X-Forwarded-For, Via'], []],
  ];
  for (const [what, headers, expected] of rows) {
    test(what, () => {
      const request = {
        headers,
        httpVersion: '1.1',
        clientAddress: '192.0.2.9',
        scheme: 'http',
        host: 'h.example',
        cdnId: CDN_ID,
      } as const;
      assert.deepEqual(originHeaders(request), [...expected, ...own, 'Via', `1.1 ${CDN_ID}`, 'CDN-Loop', CDN_ID]);
    });
  }

  test('Via and CDN-Loop grow', () => {
    const headers = ['Via', '1.0 a', 'via', '1.1 b', 'CDN-Loop', 'other; x=1'];
    const sent = originHeaders({
      headers,
      httpVersion: '1.0',
      clientAddress: '::1',
      scheme: 'http',
      host: 'h',
      cdnId: CDN_ID,
    });
    assert.deepEqual(sent.slice(-4), ['Via', `1.0 a, 1.1 b, 1.0 ${CDN_ID}`, 'CDN-Loop', `other; x=1, ${CDN_ID}`]);
  });
});

describe('the loop guard', () => {
  const rows: readonly (readonly [headers: readonly string[], expected: boolean])[] = [
    [[], false],
    [['CDN-Loop', 'other'], false],
    [['CDN-Loop', 'causeway-1f2e3d4c'], true],
    [['cdn-loop', 'other, CAUSEWAY-1F2E3D4C;v=1'], true],
    [['CDN-Loop', 'causeway, causeway-00000000'], false],
    [['Via', '1.1 causeway-1f2e3d4c'], false],
    [['CDN-Loop', 'other', 'CDN-Loop', 'x,causeway-1f2e3d4c'], true],
    [['CDN-Loop', 'notcauseway-1f2e3d4c, causeway-1f2e3d4c0'], false],
  ];
  for (const [headers, expected] of rows) {
    test(`${JSON.stringify(headers)} ${expected ? 'is a loop' : 'is not a loop'}`, () =>
      assert.equal(isLoop(headers, CDN_ID), expected));
  }
});
