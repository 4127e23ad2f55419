/** Hellos of a real client (Node's OpenSSL), whole, cut and damaged. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { helloOf } from '../../../../test/support/edge/client-hello.ts';
import { readClientHello } from './client-hello.ts';
import { readFirstBytes } from './first-bytes.ts';

function read(bytes: Buffer) {
  const start = readFirstBytes(bytes);
  assert.ok(start.kind === 'message', start.kind);
  return readClientHello(start.message);
}

describe('readClientHello', () => {
  test('readClientHello finds the host that a client asks for, in any case and without a trailing dot', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const hello = await helloOf({ servername: 'WWW.Example.com.', minVersion: version, maxVersion: version });
      const offersTls13 = version === 'TLSv1.3';
      assert.deepEqual(read(hello), { serverName: 'www.example.com', offersTls13, ticketKeyNames: [] });
    }
    const nameless = read(await helloOf({ servername: '' }));
    assert.deepEqual(nameless, { serverName: undefined, offersTls13: true, ticketKeyNames: [] });
  });

  test('a hello that is cut, or in which any byte is changed, is read or refused', async () => {
    const start = readFirstBytes(await helloOf({ servername: 'www.example.com' }));
    assert.ok(start.kind === 'message');
    const { message } = start;
    const cut = Array.from(message, (_, at) => readClientHello(message.subarray(0, at)));
    // Without extensions, as in old hellos, it ends after the compression methods.
    assert.equal(cut.filter((hello) => hello !== undefined).length, 1);
    for (let at = 0; at < message.length; at++) {
      for (const byte of [0, 1, 0x7f, 0xff]) {
        const damaged = Buffer.from(message);
        damaged[at] = byte;
        assert.doesNotThrow(() => readClientHello(damaged));
      }
    }
  });
});
