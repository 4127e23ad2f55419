import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { listeningAddressOf } from './listening-descriptor.ts';

test('a descriptor of a listening socket has its address', async (t) => {
  for (const host of ['127.0.0.1', '::1']) {
    const before = new Set(readdirSync('/proc/self/fd').map(linkOf));
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    t.after(() => server.close());
    const bound = server.address();
    assert.ok(typeof bound === 'object' && bound !== null);
    const own = readdirSync('/proc/self/fd').filter(
      (name) => !before.has(linkOf(name)) && linkOf(name).startsWith('socket:'),
    );
    assert.deepEqual(
      own.map((name) => listeningAddressOf(Number(name))),
      [{ host, port: bound.port }],
    );
    const client = connect(bound.port, host);
    await once(client, 'connect');
    const connected = readdirSync('/proc/self/fd').filter(
      (name) => !own.includes(name) && linkOf(name).startsWith('socket:'),
    );
    assert.deepEqual(
      connected.map((name) => listeningAddressOf(Number(name))).filter((address) => address?.port === bound.port),
      [],
    );
    client.destroy();
  }
});

test('a file, and a descriptor that is not open, are no listening sockets', () => {
  const file = openSync('/dev/null', 'r');
  assert.equal(listeningAddressOf(file), undefined);
  closeSync(file);
  assert.equal(listeningAddressOf(9_999), undefined);
});

function linkOf(name: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${name}`);
  } catch {
    return ''; // the descriptor of the folder itself
  }
}
