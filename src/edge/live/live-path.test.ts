import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyedPath, readLivePath } from './live-path.ts';

test('paths of streams are recognised, with the path that their key is made for', () => {
  const rows: readonly (readonly [path: string, read: string, keyed: string])[] = [
    ['/live/a.flv', 'live a flv', '/live/a.flv'],
    ['/live/a.b.flv', 'live a.b flv', '/live/a.b.flv'],
    ['/Live-1/a_B.m3u8', 'Live-1 a_B playlist', '/Live-1/a_B.m3u8'],
    ['/live/a/b1/media.m3u8', 'live a hls b1 media.m3u8', '/live/a.m3u8'],
    ['/live/a/b1/init-0.mp4', 'live a hls b1 init-0.mp4', '/live/a.m3u8'],
    ['/live/a/b1/12.m4s', 'live a hls b1 12.m4s', '/live/a.m3u8'],
    ['/live/a/b1/12.3.m4s', 'live a hls b1 12.3.m4s', '/live/a.m3u8'],
  ];
  for (const [path, read, keyed] of rows) {
    const found = readLivePath(path) ?? assert.fail(path);
    const file = found.kind === 'hls' ? [found.broadcast, found.file] : [];
    assert.equal([found.app, found.stream, found.kind, ...file].join(' '), read);
    assert.equal(keyedPath(found), keyed);
  }
});

test('paths that no stream has are ordinary', () => {
  const long = 'a'.repeat(129);
  for (const path of [
    '/a.flv',
    '/live/x/a.flv',
    '/live/.flv',
    '/-live/a.flv',
    `/live/${long}.flv`,
    `/${long.slice(64)}/a.flv`,
    '/live/a%20b.flv',
    '/live/a.ts',
    '/live/a/B1/media.m3u8',
    '/live/a/b1/index.m3u8',
    '/live/a/b1/12.3.4.m4s',
    '/live/a/b1/12.m4s/',
    '/live/a/b1/012.m4s',
    '/live/a/b1/12.03.m4s',
    '/live/a/b1/init-00.mp4',
  ])
    assert.equal(readLivePath(path), undefined, path);
});
