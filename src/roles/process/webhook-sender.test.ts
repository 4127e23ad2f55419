import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { createRefusedAddress, createWebhookSender } from './webhook-sender.ts';

const ROWS: readonly [string, string, object][] = [
  [
    'a body that breaks off',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc',
    { kind: 'answered', status: 200, body: 'abc' },
  ],
  [
    'a body that lies',
    'HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n',
    { kind: 'answered', status: 204, body: '' },
  ],
  [
    'a body without end',
    `HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(1_000_000)}`,
    { kind: 'answered', status: 200, body: 'a'.repeat(500) },
  ],
  [
    'a character that is cut',
    `HTTP/1.1 200 OK\r\n\r\n${'€'.repeat(700)}`,
    { kind: 'answered', status: 200, body: '€'.repeat(500) },
  ],
  [
    'a head without end',
    `HTTP/1.1 200 OK\r\na: ${'a'.repeat(100_000)}`,
    { kind: 'failed', reason: 'UND_ERR_HEADERS_OVERFLOW' },
  ],
  ['no HTTP', 'hello\r\n\r\n', { kind: 'failed', reason: 'malformed' }],
  ['nothing', '', { kind: 'failed', reason: 'UND_ERR_SOCKET' }],
];

test('an answer is its status and the beginning of what follows, and the absence of one has a word for the reason', async (t) => {
  await using sender = createWebhookSender({ allow: ['127.0.0.0/8'], refuse: [] });
  let answer = '';
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(answer));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const url = `http://127.0.0.1:${address.port}/`;
  for (const [name, bytes, expected] of ROWS) {
    answer = bytes;
    assert.deepEqual(await sender.post({ url, headers: {}, body: '{}' }, new AbortController().signal), expected, name);
  }
  const over = AbortSignal.timeout(1);
  await once(over, 'abort');
  assert.deepEqual(await sender.post({ url, headers: {}, body: '{}' }, over), { kind: 'failed', reason: 'timeout' });
});

test('a forbidden address is refused before sending, and a name is not', () => {
  const own = [{ host: '127.0.0.1', port: 8700 }];
  const refusedAddress = createRefusedAddress({ allow: ['10.1.0.0/16', '127.0.0.1', 'fd00::/64'], refuse: own });
  const rows: readonly [string, string | undefined][] = [
    ['http://192.168.1.5/hook', '192.168.1.5'],
    ['https://10.2.0.1:8443/', '10.2.0.1'],
    ['http://[fd01::1]/', 'fd01::1'],
    ['http://[::ffff:192.168.1.5]/', '::ffff:c0a8:105'],
    ['http://0xa9.0xfea9fe/', '169.254.169.254'],
    ['http://127.0.0.1:8700/operator/recharge', '127.0.0.1'],
    ['http://127.0.0.1:8701/', undefined],
    ['http://10.1.2.3/', undefined],
    ['http://[fd00::1]/', undefined],
    ['http://8.8.8.8/', undefined],
    ['https://intranet.example/', undefined],
    ['http://localhost/', undefined],
  ];
  for (const [url, refused] of rows) assert.equal(refusedAddress(url), refused, url);
});
