import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editAddressListPath, readAddressListName } from './delivery.ts';
import {
  broadcastsPath,
  readBroadcastsQuery,
  readRecordingsQuery,
  readViewersQuery,
  recordingsPath,
  streamViewersPath,
} from './streams.ts';

const searchOf = (path: string) => new URL(path, 'http://localhost').search;

test('a list of addresses has its name in the address of its form', () => {
  assert.equal(readAddressListName(searchOf(editAddressListPath('office'))), 'office');
  assert.deepEqual([editAddressListPath(), readAddressListName('')], ['/address-lists/edit', '']);
});

test('filters of broadcasts, recordings and viewers survive their addresses', () => {
  const query = { domain: '*.live.example.com', range: '30d', page: 2 } as const;
  assert.deepEqual(readBroadcastsQuery(searchOf(broadcastsPath(query))), query);
  const recordings = { domain: 'live.example.com', page: 3 };
  assert.deepEqual(readRecordingsQuery(searchOf(recordingsPath(recordings))), recordings);
  const place = { domain: 'live.example.com', app: 'live', stream: 'news' };
  assert.deepEqual(readViewersQuery(searchOf(streamViewersPath(place, '24h'))), { range: '24h' });
  assert.equal(streamViewersPath(place, '1h'), '/streams/live.example.com/live/news');
  assert.deepEqual(readBroadcastsQuery('?range=century&page=x'), { domain: '', range: '1h', page: 1 });
  assert.deepEqual([broadcastsPath(), recordingsPath()], ['/streams/broadcasts', '/streams/recordings']);
});
