import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatListenAddress, isLoopback, parseListenAddress } from './listen-address.ts';

test('host and port of a listen address are told apart, and written back the same', () => {
  const rows: [string, string, number][] = [
    ['127.0.0.1:8700', '127.0.0.1', 8700],
    ['[::]:8080', '::', 8080],
    ['[2001:db8::1]:0', '2001:db8::1', 0],
    ['localhost:65535', 'localhost', 65_535],
    ['edge-1.example.com:80', 'edge-1.example.com', 80],
  ];
  for (const [text, host, port] of rows) {
    assert.deepEqual(parseListenAddress(text), { host, port });
    assert.equal(formatListenAddress({ host, port }), text);
  }
});

test('a malformed listen address is refused', () => {
  const rows = [
    '',
    '8080',
    ':8080',
    '::1:80',
    '[::1]',
    '[127.0.0.1]:80',
    '1.2.3:80',
    'a b:80',
    '127.0.0.1:65536',
    'a:x',
  ];
  for (const text of rows) assert.equal(parseListenAddress(text), undefined, text);
});

test('loopback is 127/8, ::1 and localhost', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) assert.equal(isLoopback(host), true, host);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.example.com']) assert.equal(isLoopback(host), false, host);
});
