/** A hit's line is that of any other request, whatever its client sent. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createLocalTime } from '#lib/local-time.ts';
import { HitLines } from './hit-line.ts';
import { AnsweredPart, ClientPart } from './hit-record.ts';
import { type AccessRecord, formatAddress, formatAnswered, formatLine } from './line.ts';

const ZONE = createLocalTime('Asia/Shanghai');
const RECORD: AccessRecord = {
  clientAddress: '203.0.113.9',
  endedAt: Date.parse('2025-01-31T15:59:59.123Z'),
  durationMs: 15.7,
  requestBytes: 412,
  responseBytes: 20_931,
  host: 'www.example.com',
  method: 'GET',
  target: '/a.jpg?v=1',
  httpVersion: '1.1',
  cacheCode: 'TCP_MEM_HIT',
  status: 200,
  contentType: 'image/jpeg',
  referer: 'https://example.com/',
  userAgent: 'Mozilla/5.0 (X11)',
};

/** Formats the line with the largest head before its fields. */
function lineOf(record: AccessRecord, lines = new HitLines(ZONE)): string {
  const [referer, userAgent] = [record.referer ?? '', record.userAgent ?? ''].map((text) =>
    Buffer.from(text, 'latin1'),
  );
  const fields = Buffer.concat(
    [Buffer.from('Referer: '), referer ?? '', userAgent ?? ''].map((piece) => Buffer.from(piece)),
  );
  const refererEnd = 9 + (referer?.length ?? 0);
  const to = Buffer.alloc(128 * 1024);
  const end = lines.write(to, 3, {
    ...record,
    domainId: 7,
    answered: new AnsweredPart(Buffer.from(formatAnswered(record))),
    client: new ClientPart(Buffer.from(formatAddress(record.clientAddress))),
    fields,
    refererStart: 9,
    refererEnd,
    userAgentStart: refererEnd,
    userAgentEnd: fields.length,
    hasEscapes: /[^ -[\]-~]/.test(
      `the line of a hit is that of the same request: ${record.referer}${record.userAgent}`,
    ),
  });
  return to.toString('utf8', 3, end);
}

describe('the line of a hit', () => {
  test('the line of a hit is that of the same request', () => {
    const lines = new HitLines(ZONE);
    for (const change of [
      {},
      { endedAt: RECORD.endedAt + 1 },
      { endedAt: RECORD.endedAt, clientAddress: '::ffff:198.51.100.7' },
      { clientAddress: '2001:db8::1' },
      { durationMs: -3, requestBytes: 0, responseBytes: 10 },
      { responseBytes: 2 ** 30, requestBytes: 9, durationMs: 99 },
      { responseBytes: 2 ** 30 + 1, requestBytes: 100, durationMs: 1_000_000 },
      { responseBytes: 2 ** 52 },
      { referer: undefined, userAgent: undefined },
      { referer: 'a\\b', userAgent: 'é\xe9\n' },
      { referer: 'r'.repeat(2048), userAgent: 'u'.repeat(1024) },
      { referer: 'r'.repeat(2049), userAgent: 'u'.repeat(9_000) },
    ]) {
      const record = { ...RECORD, ...change };
      assert.equal(lineOf(record, lines), `7\t${formatLine(record, ZONE)}`);
    }
  });

  test('law: the line of a hit is that of the same request, whatever its client sent', () => {
    const text = fc.string({ unit: 'binary' }).map((value) => Buffer.from(value).toString('latin1'));
    fc.assert(
      fc.property(text, text, fc.maxSafeNat(), fc.maxSafeNat(), (referer, userAgent, responseBytes, durationMs) => {
        const record = { ...RECORD, referer, userAgent, responseBytes, durationMs };
        assert.equal(lineOf(record), `7\t${formatLine(record, ZONE)}`);
      }),
    );
  });
});
