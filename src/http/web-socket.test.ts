import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHandshakeAccepted, isWebSocketHandshake } from './web-socket.ts';

/** The sample of RFC 6455 §1.3. */
const KEY = ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='];
const ACCEPT = ['Sec-WebSocket-Accept', 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='];
const UPGRADE = ['Upgrade', 'websocket'];
const CONNECTION = ['Connection', 'Upgrade'];

test('a handshake is a GET over HTTP/1.1 with both fields and one key; everything else is an ordinary request', () => {
  const rows: readonly (readonly [what: string, change: object, expected: boolean])[] = [
    ['as browsers send it', {}, true],
    ['in other letters', { headers: ['connection', 'keep-alive, UPGRADE', 'upgrade', 'WebSocket', ...KEY] }, true],
    ['offered beside others', { headers: ['Upgrade', 'h2c, websocket', ...CONNECTION, ...KEY] }, true],
    ['in several lines', { headers: ['Connection', 'keep-alive', ...CONNECTION, ...UPGRADE, ...KEY] }, true],
    ['a POST', { method: 'POST' }, false],
    ['HTTP/1.0', { httpVersion: '1.0' }, false],
    ['another protocol', { headers: ['Upgrade', 'h2c', ...CONNECTION, ...KEY] }, false],
    ['a name that begins like it', { headers: ['Upgrade', 'websocket2', ...CONNECTION, ...KEY] }, false],
    ['no Upgrade', { headers: [...CONNECTION, ...KEY] }, false],
    ['no Connection', { headers: [...UPGRADE, ...KEY] }, false],
    ['Connection without the word', { headers: ['Connection', 'keep-alive', ...UPGRADE, ...KEY] }, false],
    ['Connection: close besides', { headers: ['Connection', 'close, upgrade', ...UPGRADE, ...KEY] }, false],
    ['no key', { headers: [...UPGRADE, ...CONNECTION] }, false],
    ['an empty key', { headers: [...UPGRADE, ...CONNECTION, 'Sec-WebSocket-Key', ''] }, false],
    ['two keys', { headers: [...UPGRADE, ...CONNECTION, ...KEY, ...KEY] }, false],
    ['a length', { headers: [...UPGRADE, ...CONNECTION, ...KEY, 'Content-Length', '0'] }, false],
    ['an expectation', { headers: [...UPGRADE, ...CONNECTION, ...KEY, 'Expect', '100-continue'] }, false],
    ['chunks', { headers: [...UPGRADE, ...CONNECTION, ...KEY, 'Transfer-Encoding', 'chunked'] }, false],
  ];
  const plain = { method: 'GET', httpVersion: '1.1', headers: [...UPGRADE, ...CONNECTION, ...KEY] };
  for (const [what, change, expected] of rows)
    assert.equal(isWebSocketHandshake({ ...plain, ...change }), expected, what);
});

test('a 101 counts only with WebSocket alone and the answer to the key that was sent', () => {
  const rows: readonly (readonly [what: string, response: readonly string[], expected: boolean])[] = [
    ['the sample', [...UPGRADE, ...ACCEPT], true],
    ['in other letters', ['upgrade', 'WebSocket', 'sec-websocket-accept', ACCEPT[1] ?? ''], true],
    ['no protocol', ACCEPT, false],
    ['another protocol', ['Upgrade', 'h2c', ...ACCEPT], false],
    ['two protocols', ['Upgrade', 'websocket, h2c', ...ACCEPT], false],
    ['no answer to the key', UPGRADE, false],
    ['an answer to another key', [...UPGRADE, 'Sec-WebSocket-Accept', 'AAAAAAAAAAAAAAAAAAAAAAAAAAA='], false],
    ['two answers', [...UPGRADE, ...ACCEPT, ...ACCEPT], false],
  ];
  for (const [what, response, expected] of rows) assert.equal(isHandshakeAccepted(KEY, response), expected, what);
});
