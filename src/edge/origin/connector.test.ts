/** Connections on real sockets. Names are resolved by tables whose answers may change. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startRawOrigin } from '../../../test/support/edge/origin.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { ConnectError, createConnector } from './connector.ts';
import { createGuard } from './guard.ts';
import type { Resolve } from './resolve.ts';

const TIMEOUT_MS = 1_000;

describe('the guarded connector', () => {
  test('a name that resolves to a private address is refused, and nothing is connected', async (t) => {
    const origin = await startRawOrigin(t, () => undefined);
    const connect = connectorOf(async () => ['127.0.0.1', '::1', '10.0.0.1', '::ffff:127.0.0.1'], []);
    await rejectsWith('originForbidden', connect(named(origin.port)));
    assert.equal(origin.connections(), 0);
  });

  test('a name that later resolves to a refused address is refused then', async (t) => {
    const origin = await startRawOrigin(t, () => undefined);
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return answers.shift() ?? [];
    };
    const connect = connectorOf(resolve, ['127.0.0.2']);
    await rejectsWith('originConnect', connect(named(origin.port))); // permitted; the origin listens on 127.0.0.1 only
    await rejectsWith('originForbidden', connect(named(origin.port)));
    assert.equal(origin.connections(), 0);
    assert.equal(asked.length, 2); // once per connection: no second look-up between check and use
  });

  test('the permitted ones of several addresses are tried, each in turn', async (t) => {
    const origin = await startRawOrigin(t, () => undefined);
    const connect = connectorOf(async () => ['10.0.0.1', '127.0.0.3', '127.0.0.1'], ['127.0.0.0/8']);
    const socket = await connect(named(origin.port));
    assert.equal(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
  });

  test('an IP literal is checked without a look-up', async () => {
    const connect = connectorOf(() => assert.fail('looked up'), []);
    await rejectsWith(
      'originForbidden',
      connect({ host: '127.0.0.1', port: 80, isAddress: true, serverName: undefined }),
    );
  });

  test('our own port stays refused in an opened range', async (t) => {
    const own = await startRawOrigin(t, () => undefined);
    const guard = createGuard({ allow: ['127.0.0.0/8'], refuse: [{ host: '::', port: own.port }] });
    const connect = createConnector({ guard, resolve: async () => ['127.0.0.1'], timeoutMs: TIMEOUT_MS });
    await rejectsWith('originForbidden', connect(named(own.port)));
  });

  test('a closed port, a name without addresses, a failing and a silent resolver each have their reason', async () => {
    const port = await freePort();
    const open = ['127.0.0.0/8'];
    await rejectsWith('originConnect', connectorOf(async () => ['127.0.0.1'], open)(named(port)));
    await rejectsWith('originDns', connectorOf(async () => [], open)(named(port)));
    await rejectsWith('originDns', connectorOf(() => Promise.reject(new Error('no such name')), open)(named(port)));
    await rejectsWith('originDns', connectorOf(() => new Promise(() => undefined), open, 50)(named(port)));
  });

  test('a server that accepts and stays silent in the TLS handshake is given up in time', async (t) => {
    const origin = await startRawOrigin(t, () => undefined);
    const connect = connectorOf(async () => ['127.0.0.1'], ['127.0.0.0/8'], 100);
    await rejectsWith('originConnectTimeout', connect({ ...named(origin.port), serverName: 'o.example' }));
  });
});

function named(port: number) {
  return { host: 'o.example', port, isAddress: false, serverName: undefined };
}

function connectorOf(resolve: Resolve, allow: readonly string[], timeoutMs = TIMEOUT_MS) {
  return createConnector({ guard: createGuard({ allow, refuse: [] }), resolve, timeoutMs });
}

async function rejectsWith(failure: string, attempt: Promise<unknown>): Promise<void> {
  await assert.rejects(attempt, (error) => error instanceof ConnectError && error.failure === failure);
}
