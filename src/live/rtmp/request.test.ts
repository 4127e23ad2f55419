import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConnect, readRequest } from './request.ts';

const CLIENT = { clientAddress: '192.0.2.1', isTls: false };
const URL = 'rtmp://live.example.com/live';

/** App, URL, name → host, app, stream, query. */
const ROWS: readonly (readonly [
  app: string,
  tcUrl: string,
  name: string,
  wanted: readonly [string | undefined, string, string, string],
])[] = [
  ['live', URL, 'a', ['live.example.com', 'live', 'a', '']],
  ['live', 'rtmp://Live.Example.COM.:1935/live', 'a', ['live.example.com', 'live', 'a', '']],
  ['live', 'rtmps://live.example.com:443/live', 'a', ['live.example.com', 'live', 'a', '']],
  ['live', 'rtmp://user:word@live.example.com/live', 'a', ['live.example.com', 'live', 'a', '']],
  ['live', 'rtmp://[2001:DB8::1]:1935/live', 'a', ['[2001:db8::1]', 'live', 'a', '']],
  ['live/', URL, '/a', ['live.example.com', 'live', 'a', '']],
  ['live', URL, 'flv:a', ['live.example.com', 'live', 'a', '']],
  ['live', URL, 'a?auth_key=1-2-3-4', ['live.example.com', 'live', 'a', 'auth_key=1-2-3-4']],
  ['live?auth_key=1', URL, 'a', ['live.example.com', 'live', 'a', 'auth_key=1']],
  ['live?auth_key=1&x=2', URL, 'a?auth_key=3', ['live.example.com', 'live', 'a', 'auth_key=3&x=2']],
  ['live?vhost=b.example.com', URL, 'a', ['b.example.com', 'live', 'a', 'vhost=b.example.com']],
  ['live', URL, 'a?domain=B.example.com:1935', ['b.example.com', 'live', 'a', 'domain=B.example.com%3A1935']],
  ['live', '', 'a?vhost=b.example.com', ['b.example.com', 'live', 'a', 'vhost=b.example.com']],
  ['live', URL, 'a?vhost=..%2F', ['live.example.com', 'live', 'a', 'vhost=..%2F']],
  ['', `${URL}/b`, 'a', ['live.example.com', 'live/b', 'a', '']],
  ['live', '', 'a', [undefined, 'live', 'a', '']],
  ['live', 'http://live.example.com/live', 'a', [undefined, 'live', 'a', '']],
  ['live', 'rtmp://', 'a', [undefined, 'live', 'a', '']],
  ['live', 'rtmp://a b/live', 'a', [undefined, 'live', 'a', '']],
  ['live', 'rtmp://live.example.com:99999999/live', 'a', [undefined, 'live', 'a', '']],
  ['live', `rtmp://${'a'.repeat(300)}/live`, 'a', [undefined, 'live', 'a', '']],
  ['live', URL, '', ['live.example.com', 'live', '', '']],
];

test('a request is read from the app, the URL and the name', () => {
  for (const [app, tcUrl, name, wanted] of ROWS) {
    const request = readRequest(readConnect({ app, tcUrl }), name, CLIENT);
    const { host, stream, query } = request;
    assert.deepEqual([host, request.app, stream, query.toString()], wanted, `${app} ${tcUrl} ${name}`);
  }
});

test('fields of connect that have another type count as absent', () => {
  for (const argument of [undefined, null, 7, 'x', [], {}, { app: 7, tcUrl: { a: 1 }, flashVer: null }])
    assert.deepEqual(readConnect(argument), {
      app: '',
      tcUrl: '',
      flashVer: '',
      pageUrl: '',
      objectEncoding: 0,
      isEnhanced: false,
    });
  assert.equal(readConnect({ app: 'live', fourCcList: ['*'] }).isEnhanced, true);
  assert.equal(readConnect({ app: 'live', objectEncoding: 3 }).objectEncoding, 3);
});
