import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitPlaylist, withViewerQuery } from './playlist.ts';

const PLAYLIST = '#EXTM3U\n#EXT-X-MAP:URI="init-0.mp4"\n#EXTINF:2,\n12.m4s\n';
const withQuery = (query: string) =>
  PLAYLIST.replace('init-0.mp4', `init-0.mp4${query}`).replace('2.m4s', `2.m4s${query}`);

test("addresses of a playlist carry the viewer's query, except for the player's own members", () => {
  const long = 'x'.repeat(7_000);
  const rows = [
    ['', ''],
    ['?', ''],
    ['?auth_key=1&x="', '?auth_key=1&x=%22'],
    ['?_HLS_msn=1&a=2&_HLS%5Fpart=3', '?a=2'],
    // What is too long goes on as the key alone.
    [`?x=${long}&auth%5Fkey=1-2-3-4`, '?auth%5Fkey=1-2-3-4'],
    [`?auth_key=${long}`, ''],
    [`?${'&'.repeat(7_000)}`, ''],
    [`?x=${'"'.repeat(400)}`, ''],
    [`?x=${'y'.repeat(510)}`, `?x=${'y'.repeat(510)}`],
    [`?x=${'y'.repeat(511)}`, ''],
  ] as const;
  for (const [query, expected] of rows)
    assert.equal(withViewerQuery(splitPlaylist(PLAYLIST), query), withQuery(expected), query.slice(0, 40));
});

test('the addresses of a playlist are its lines without a tag and the attributes URI of its tags', () => {
  const rows: readonly (readonly [playlist: string, expected: string])[] = [
    ['', ''],
    ['#EXTM3U\n', '#EXTM3U\n'],
    ['#EXTM3U\na/b1/media.m3u8\n', '#EXTM3U\na/b1/media.m3u8?k\n'],
    [
      '#EXT-X-PART:DURATION=1,URI="1.0.m4s",INDEPENDENT=YES\n',
      '#EXT-X-PART:DURATION=1,URI="1.0.m4s?k",INDEPENDENT=YES\n',
    ],
    ['#EXT-X-PRELOAD-HINT:TYPE=PART,URI="1.1.m4s"\n', '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="1.1.m4s?k"\n'],
    ['#EXTINF:2,\r\n1.m4s\r\n\r\n2.m4s', '#EXTINF:2,\r\n1.m4s?k\r\n\r\n2.m4s?k'],
    ['#A:URI="a",URI="b"\n', '#A:URI="a?k",URI="b?k"\n'],
  ];
  for (const [playlist, expected] of rows) assert.equal(withViewerQuery(splitPlaylist(playlist), '?k'), expected);
});
