import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readCall } from './read-call.ts';

const HEAD = [
  'POST /api/sms/ordinary HTTP/1.1',
  'Host: a.example.com',
  'Accept-Language: en',
  'X-Forwarded-For: 192.0.2.1',
  'X-Request-Id: a-7',
  'Idempotency-Key: k',
  'X-Causeway-User: root',
  'Content-Type: application/json',
  'Content-Length: 4',
];
const CALL = Buffer.from(`${HEAD.join('\r\n')}\r\n\r\n{"a"`);

describe('reading a call', () => {
  test('a call is read with the fields that its answer depends on, and the position of its body', () => {
    const call = readCall(Buffer.concat([CALL, Buffer.from('POST ')]));
    assert.deepEqual(call, {
      name: 'sms.ordinary',
      forwardedFor: '192.0.2.1',
      acceptLanguage: 'en',
      idempotencyKey: 'k',
      localUser: 'root',
      requestId: 'a-7',
      browser: {
        ...{ contentType: 'application/json', host: 'a.example.com', cookie: undefined, fetchSite: undefined },
        ...{ origin: undefined, userAgent: undefined },
      },
      isLast: false,
      bodyStart: CALL.length - 4,
      end: CALL.length,
    });
  });

  test('an incomplete call is waited for, wherever it is cut', () => {
    for (let end = 0; end < CALL.length; end++)
      assert.equal(readCall(CALL.subarray(0, end)), 'incomplete', String(end));
  });

  test('bytes that cannot become a call and a head without end are not waited for', () => {
    for (const text of ['G', 'PUT /', 'POST\t', '\r', '\x16', `POST /${'a'.repeat(8 * 1024)}`])
      assert.equal(readCall(Buffer.from(text)), 'other', text.slice(0, 20));
    const head = HEAD.with(-1, 'Content-Length: 2000000');
    assert.equal(readCall(Buffer.from(`${head.join('\r\n')}\r\n\r\n`)), 'other', 'nor for a body that is refused');
  });
});
