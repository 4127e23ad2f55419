import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AskedAddresses, liveAddresses } from './live-addresses.ts';

const ASKED: AskedAddresses = {
  host: 'a.example.com',
  app: 'live',
  stream: 'news',
  keys: { publish: [], play: [] },
  ports: { http: 80, https: 443, rtmp: 1935, rtmps: 443 },
  hasTls: false,
  forcesTls: false,
  expiresAt: 1_800_000_000_000,
  random: 'r',
};

const HTTP = ['http://a.example.com/live/news.flv', 'http://a.example.com/live/news.m3u8'];
const HTTPS = HTTP.map((url) => url.replace('http:', 'https:'));
const RTMP = 'rtmp://a.example.com/live/news';
const RTMPS = 'rtmps://a.example.com/live/news';

const ROWS: readonly (readonly [string, Partial<AskedAddresses>, readonly string[], readonly string[]])[] = [
  ['RTMP and HTTP', {}, [RTMP], [RTMP, ...HTTP]],
  ['a certificate', { hasTls: true }, [RTMP, RTMPS], [RTMP, RTMPS, ...HTTP, ...HTTPS]],
  ['HTTPS only', { hasTls: true, forcesTls: true }, [RTMP, RTMPS], [RTMP, RTMPS, ...HTTPS]],
  ['no certificate, which redirects nothing', { forcesTls: true }, [RTMP], [RTMP, ...HTTP]],
  ['RTMP that is off', { ports: { http: 80, https: 443 }, hasTls: true }, [], [...HTTP, ...HTTPS]],
  ['HTTPS that is off', { ports: { http: 80 }, hasTls: true, forcesTls: true }, [], HTTP],
  ['a port that is not known', { ports: { http: 0, rtmp: 0 } }, [RTMP], [RTMP, ...HTTP]],
  [
    'other ports',
    { ports: { http: 8080, https: 8443, rtmp: 1936, rtmps: 1937 }, hasTls: true },
    ['rtmp://a.example.com:1936/live/news', 'rtmps://a.example.com:1937/live/news'],
    [
      ...['rtmp://a.example.com:1936/live/news', 'rtmps://a.example.com:1937/live/news'],
      ...HTTP.map((url) => url.replace('.com', '.com:8080')),
      ...HTTPS.map((url) => url.replace('.com', '.com:8443')),
    ],
  ],
];

for (const [name, given, publish, play] of ROWS) {
  test(`live addresses with ${name}`, () => {
    const info = liveAddresses({ ...ASKED, ...given });
    assert.deepEqual([info.publish.map(({ url }) => url), info.play.map(({ url }) => url)], [publish, play]);
  });
}

test('each live address is signed for its own path, those for publishing with another key', () => {
  const { publish, play } = liveAddresses({ ...ASKED, keys: { publish: ['one', 'old'], play: ['two'] } });
  const values = [...publish, ...play].map(({ url }) => new URL(url).searchParams.get('auth_key') ?? '');
  assert.equal(new Set(values).size, 4);
  assert.ok(values.every((value) => /^1800000000-r-0-[0-9a-f]{32}$/.test(value)));
  assert.equal(publish[0]?.url, `${publish[0]?.server}/${publish[0]?.streamKey}`);
});
