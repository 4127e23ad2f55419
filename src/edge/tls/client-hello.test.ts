/** Hellos of a real client (Node's OpenSSL), whole, in pieces, cut and damaged. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { helloOf } from '../../../test/support/client-hello.ts';
import { readClientHello } from './client-hello.ts';

describe('readClientHello', () => {
  test('finds the host that a client asks for, without regard to case and a trailing dot', async () => {
    for (const minVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const hello = readClientHello(await helloOf({ servername: 'WWW.Example.com.', minVersion }));
      assert.deepEqual(hello, { kind: 'hello', serverName: 'www.example.com', ticketKeyNames: [] });
    }
    const nameless = readClientHello(await helloOf({ servername: '' }));
    assert.ok(nameless.kind === 'hello' && nameless.serverName === undefined);
  });

  test('the same in any pieces, and in small records', async () => {
    const bytes = await helloOf({ servername: 'www.example.com' });
    const whole = readClientHello(bytes);
    assert.equal(whole.kind, 'hello');
    for (let at = 0; at < bytes.length; at++)
      assert.equal(readClientHello(bytes.subarray(0, at)).kind, 'incomplete', `${at}`);
    const records: Buffer[] = [];
    for (let at = 5; at < bytes.length; at += 100) {
      const part = bytes.subarray(at, at + 100);
      records.push(Buffer.from([22, 3, 1, 0, part.length]), part);
    }
    assert.deepEqual(readClientHello(Buffer.concat(records)), whole);
    assert.deepEqual(readClientHello(Buffer.concat([bytes, Buffer.from('more')])), whole);
  });

  test('what is not TLS, or larger than a hello, is told at once', () => {
    const rows: readonly (readonly [what: string, bytes: Buffer])[] = [
      ['HTTP', Buffer.from('G')],
      ['another record', Buffer.from([23, 3, 1])],
      ['another version', Buffer.from([22, 2])],
      ['another message', Buffer.from([22, 3, 1, 0, 4, 2])],
      ['an empty record', Buffer.from([22, 3, 1, 0, 0])],
      ['a large record', Buffer.from([22, 3, 1, 0xff, 0xff])],
      ['a large message', Buffer.from([22, 3, 1, 0, 4, 1, 1, 0, 0])],
      ['records without end', Buffer.concat(Array(65).fill(Buffer.from([22, 3, 1, 0, 1, 1])))],
    ];
    for (const [what, bytes] of rows) assert.equal(readClientHello(bytes).kind, 'malformed', what);
  });

  test('a hello in which any byte is another never throws', async () => {
    const bytes = await helloOf({ servername: 'www.example.com' });
    for (let at = 0; at < bytes.length; at++) {
      for (const byte of [0, 1, 0x7f, 0xff]) {
        const damaged = Buffer.from(bytes);
        damaged[at] = byte;
        assert.doesNotThrow(() => readClientHello(damaged));
      }
    }
  });
});
