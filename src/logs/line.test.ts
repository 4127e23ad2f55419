import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createLocalTime } from '#lib/local-time.ts';
import { type AccessRecord, escapeField, formatLine, MAX_FIELD_BYTES } from './line.ts';

const ZONE = createLocalTime('Asia/Shanghai');
const RECORD: AccessRecord = {
  clientAddress: '203.0.113.9',
  endedAt: Date.parse('2025-01-31T15:59:59.123Z'),
  durationMs: 15.7,
  requestBytes: 412,
  responseBytes: 20931,
  host: 'www.example.com',
  method: 'GET',
  target: '/a.jpg?v=1',
  httpVersion: '1.1',
  cacheCode: 'TCP_HIT',
  status: 200,
  contentType: 'image/jpeg',
  referer: 'https://example.com/',
  userAgent: 'Mozilla/5.0 (X11)',
};

describe('an access-log line', () => {
  test('an access-log line has 13 fields as documented', () => {
    assert.equal(
      formatLine(RECORD, ZONE),
      '203.0.113.9\t2025-01-31T23:59:59.123+08:00\t15\t412\t20931\twww.example.com\tGET\t/a.jpg?v=1\tHTTP/1.1\tTCP_HIT/200\timage/jpeg\thttps://example.com/\tMozilla/5.0 (X11)',
    );
  });

  test('an access-log line shows a dash for an empty or absent field, and counts from 0', () => {
    const none = {
      host: undefined,
      method: undefined,
      target: '',
      contentType: undefined,
      referer: '',
      userAgent: undefined,
    };
    const line = formatLine({ ...RECORD, ...none, durationMs: -3, cacheCode: 'NONE', status: 400 }, ZONE);
    assert.equal(
      line,
      '203.0.113.9\t2025-01-31T23:59:59.123+08:00\t0\t412\t20931\t-\t-\t-\tHTTP/1.1\tNONE/400\t-\t-\t-',
    );
  });

  test('an access-log line shows addresses bare, v4-mapped ones as IPv4', () => {
    const rows = [
      ['::ffff:203.0.113.9', '203.0.113.9'],
      ['2001:db8::1', '2001:db8::1'],
      ['::ffff:1', '::ffff:1'],
    ];
    for (const [clientAddress = '', shown] of rows) {
      assert.equal(formatLine({ ...RECORD, clientAddress }, ZONE).split('\t')[0], shown);
    }
  });

  test('an access-log line cuts long fields', () => {
    const long = 'a'.repeat(10_000);
    const fields = formatLine(
      { ...RECORD, target: `/${long}`, referer: long, userAgent: long, contentType: long, method: long, host: long },
      ZONE,
    ).split('\t');
    const { host, method, target, contentType, referer, userAgent } = MAX_FIELD_BYTES;
    assert.deepEqual(
      [5, 6, 7, 10, 11, 12].map((field) => fields[field]?.length),
      [host, method, target, contentType, referer, userAgent],
    );
  });
});

describe('a field', () => {
  const latin1 = (text: string) => Buffer.from(text).toString('latin1');

  test('a field escapes characters that could break a line or are not text', () => {
    const rows: [string, string][] = [
      ['a b', 'a b'],
      ['a\tb', 'a\\x09b'],
      ['a\r\nb', 'a\\x0D\\x0Ab'],
      ['a\\x09', 'a\\x5Cx09'],
      ['\u0000\u001f\u007f', '\\x00\\x1F\\x7F'],
      ['"\'', '"\''],
      [latin1('é中😀'), 'é中😀'],
      [latin1('\u0800\u0fff\ud7ff\ue000\uffff'), '\u0800\u0fff\ud7ff\ue000\uffff'],
      [latin1('\u{10000}\u{10ffff}\u00a0\u07ff'), '\u{10000}\u{10ffff}\u00a0\u07ff'],
      [latin1('a\u0080\u0085\u2028\u2029b'), 'a\\xC2\\x80\\xC2\\x85\\xE2\\x80\\xA8\\xE2\\x80\\xA9b'],
      ['\u00e0\u0080\u0080', '\\xE0\\x80\\x80'],
      ['\u00f0\u0080\u0080\u0080', '\\xF0\\x80\\x80\\x80'],
      ['\t !~', '\\x09 !~'],
      ['\u00e9', '\\xE9'],
      ['\u00c3', '\\xC3'],
      ['\u00c0\u0080', '\\xC0\\x80'],
      ['\u00ed\u00a0\u0080', '\\xED\\xA0\\x80'],
      ['\u00f4\u0090\u0080\u0080', '\\xF4\\x90\\x80\\x80'],
      ['\u00e4\u00b8x', '\\xE4\\xB8x'],
      [latin1('a中').slice(0, 3), 'a\\xE4\\xB8'],
    ];
    for (const [text, expected] of rows) assert.equal(escapeField(text), expected);
  });

  test('law: a field is one field of one line, and undoing the escapes returns the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), (bytes) => {
        const field = escapeField(Buffer.from(bytes).toString('latin1'));
        assert.match(field, /^[^\t\r\n]*$/);
        const parts = field.split(/\\x([0-9A-F]{2})/);
        const back = Buffer.concat(
          parts.map((part, i) => (i % 2 === 1 ? Buffer.from(part, 'hex') : Buffer.from(part))),
        );
        assert.deepEqual([...back], [...bytes]);
      }),
    );
  });

  test('law: a line has 13 fields whatever the client sent', () => {
    const text = fc.option(
      fc.string({ unit: 'binary' }).map((value) => Buffer.from(value).toString('latin1')),
      { nil: undefined },
    );
    fc.assert(
      fc.property(text, text, text, (target, referer, userAgent) => {
        const line = formatLine({ ...RECORD, target, referer, userAgent }, ZONE);
        assert.equal(line.split('\t').length, 13);
        assert.equal(/[\r\n]/.test(line), false);
      }),
    );
  });
});
