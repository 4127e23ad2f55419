import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATIONS } from '#contract/operations.ts';
import { describeStream, type StreamRow, staleNotes, streamCells } from './live-tables.ts';

const [ROW = assert.fail('no sample')] = OPERATIONS['liveOperator.list'].sample.data.list;
const TIMES = { ofSeconds: String, ofLocal: (text: string) => text };

function reportedAgo(ms: number, edge: string): StreamRow {
  return { ...ROW, edge, details: ROW.details && { ...ROW.details, report_age_ms: ms } };
}

test('each edge that has missed three reports has one note', () => {
  const rows = [reportedAgo(15_000, 'a'), reportedAgo(200_000, 'b'), reportedAgo(200_000, 'b'), reportedAgo(9e6, 'c')];
  const note = (edge: string, age: string) =>
    `note: the live process of edge ${edge} last reported ${age} ago. Its streams are shown as of that report.`;
  assert.deepEqual(staleNotes([...rows, { ...ROW, details: null }]), [note('b', '3 min'), note('c', '3 h')]);
});

test('a figure that has not been measured yet is not shown as 0', () => {
  const details = ROW.details && { ...ROW.details, bit_rate: 0, frame_rate: 0, width: 0 };
  const row = { ...ROW, details };
  assert.equal(streamCells(row, TIMES)[7], '-');
  const pairs = new Map(describeStream(row, TIMES));
  assert.deepEqual([pairs.get('bit rate'), pairs.get('video')], ['', 'avc1']);
});
