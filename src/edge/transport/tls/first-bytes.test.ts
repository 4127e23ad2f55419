import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { helloOf } from '../../../../test/support/edge/client-hello.ts';
import { readFirstBytes } from './first-bytes.ts';

describe('readFirstBytes', () => {
  test('readFirstBytes joins a hello out of any pieces and records, and says how much it needs', async () => {
    const bytes = await helloOf({ servername: 'www.example.com' });
    const message = bytes.subarray(9);
    for (const recordBytes of [message.length, 100, 3, 1]) {
      const records = toRecords(bytes.subarray(5), recordBytes);
      assert.deepEqual(readFirstBytes(Buffer.concat([records, Buffer.from('more')])), { kind: 'message', message });
      let reads = 0;
      for (let size = 1; size < records.length; reads++) {
        const start = readFirstBytes(records.subarray(0, size));
        assert.ok(start.kind === 'incomplete' && start.neededBytes > size && start.neededBytes <= records.length);
        size = start.neededBytes;
      }
      assert.ok(reads <= 2 * Math.ceil(message.length / recordBytes) + 10, `${reads} reads`);
    }
    for (let size = 0; size < bytes.length; size++) {
      assert.equal(readFirstBytes(bytes.subarray(0, size)).kind, 'incomplete', `${size}`);
    }
  });

  test('readFirstBytes copies nothing of a hello in one record', async () => {
    const bytes = await helloOf({ servername: 'www.example.com' });
    const start = readFirstBytes(bytes);
    assert.ok(start.kind === 'message' && start.message.buffer === bytes.buffer);
  });

  test('readFirstBytes recognises bytes that are not a hello at once, with their alert', () => {
    const rows: readonly (readonly [what: string, bytes: Buffer | string, found: string])[] = [
      ['nothing', '', 'incomplete'],
      ['the beginning of a method', 'G', 'incomplete'],
      ['HTTP/1.1', 'GET / HTTP/1.1\r\n', 'plainHttp'],
      ['a method of another protocol', 'm-search *', 'plainHttp'],
      ['HTTP/2', 'PRI * HTTP/2.0\r\n', 'plainHttp'],
      ['empty lines before a request', '\r\n\r\nGET /', 'plainHttp'],
      ['empty lines without end', '\r\n\r\n\r\n', 'unexpectedMessage'],
      ['SSH', 'SSH-2.0-OpenSSH_9.9\r\n', 'unexpectedMessage'],
      ['a word without end', 'A'.repeat(40), 'unexpectedMessage'],
      ['zeros', Buffer.alloc(8), 'unexpectedMessage'],
      ['a hello of SSL 2', Buffer.from([0x80, 0x2e, 1, 3, 1]), 'protocolVersion'],
      ['application data', Buffer.from([23, 3, 1]), 'unexpectedMessage'],
      ['another major version', Buffer.from([22, 2]), 'protocolVersion'],
      ['another message', Buffer.from([22, 3, 1, 0, 4, 2]), 'unexpectedMessage'],
      ['an empty record', Buffer.from([22, 3, 1, 0, 0]), 'unexpectedMessage'],
      ['a record beyond 16 KiB', Buffer.from([22, 3, 1, 0x40, 1]), 'recordOverflow'],
      ['a message beyond 16 KiB', Buffer.from([22, 3, 1, 0, 4, 1, 1, 0, 0]), 'decodeError'],
      ['another record in the hello', Buffer.from([22, 3, 1, 0, 1, 1, 23]), 'unexpectedMessage'],
      ['an alert', Buffer.from([21, 3, 1, 0, 2, 2, 40]), 'ended'],
      ['half an alert', Buffer.from([21, 3, 1]), 'incomplete'],
      ['a large alert', Buffer.from([21, 3, 1, 1, 2]), 'decodeError'],
    ];
    for (const [what, bytes, expected] of rows) {
      const start = readFirstBytes(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
      assert.equal(start.kind === 'malformed' ? start.alert : start.kind, expected, what);
    }
    const large = Buffer.concat([Buffer.from([1, 0, 0x3f, 0xff]), Buffer.alloc(16 * 1024 - 1)]);
    const many = readFirstBytes(toRecords(large, 1));
    assert.deepEqual(many, { kind: 'malformed', alert: 'decodeError' }, 'records and what is in them count');
  });
});

function toRecords(message: Buffer, recordBytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordBytes) {
    const part = message.subarray(at, at + recordBytes);
    parts.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(parts);
}
