import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLineSink, type LineSink, parseSinkHeader, SINK_FIELDS } from './line-sink.ts';

const SINK: LineSink = {
  url: 'https://logs.example/in',
  headers: [{ name: 'Authorization', value: 'Splunk 4f' }],
  fields: SINK_FIELDS,
  samplePercent: 100,
  domainIds: [7],
  maxBytes: 1_048_576,
  maxRecords: 5_000,
  maxSeconds: 5,
};

test('a header field has a name and a value, and fields that the service sets are refused', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Authorization: Splunk 4f9c', 'Splunk 4f9c'],
    ['X-Key:a', 'a'],
    ['X-Key: a\tb', 'a\tb'],
    ['X-Key:', undefined],
    ['X-Key', undefined],
    ['X Key: a', undefined],
    ['X-Key: a\nB: c', undefined],
    ['X-Key: é', undefined],
    ['Host: other.example', undefined],
    ['content-encoding: br', undefined],
    ['Transfer-Encoding: chunked', undefined],
    ['X-Causeway-Edge: fra1', undefined],
    ['Idempotency-Key: a', undefined],
  ];
  for (const [text, value] of rows) assert.equal(parseSinkHeader(text)?.value, value, text);
});

test('a sink that was received is checked member by member', () => {
  assert.ok(isLineSink(SINK));
  assert.ok(isLineSink({ ...SINK, domainIds: [], headers: [] }));
  const wrong: readonly object[] = [
    { url: 7 },
    { url: 'logs' },
    { headers: [{ name: 'Host', value: 'x' }] },
    { headers: 'Authorization: x' },
    { headers: Array.from({ length: 17 }, () => ({ name: 'X', value: 'y' })) },
    { fields: ['password'] },
    { samplePercent: 0 },
    { samplePercent: 1.5 },
    { domainIds: [0] },
    { domainIds: ['7'] },
    { maxBytes: 1 },
    { maxRecords: 0 },
    { maxSeconds: 61 },
  ];
  for (const change of wrong) assert.equal(isLineSink({ ...SINK, ...change }), false, JSON.stringify(change));
  for (const value of [undefined, null, 7, 'text', [], {}]) assert.equal(isLineSink(value), false);
});
