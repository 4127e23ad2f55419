import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatRecordingMessage, parseRecordingMessage, type RecordingMessage } from './recording-message.ts';

const PIECE: RecordingMessage = {
  edge: 'edge-1',
  recording: 'r1',
  domainId: 7,
  app: 'live',
  stream: 'news',
  broadcast: 'b1',
  beganAt: 1_769_832_000_000,
  n: 3,
  endsAt: 1_769_832_040_000,
  durationMs: 10_000,
  isDiscontinuity: false,
  initBytes: 4,
  bytes: Buffer.from('initmedia\n'),
};

test('a message is read as it was written', () => {
  const end: RecordingMessage = { ...PIECE, n: 4, durationMs: 0, initBytes: 0, bytes: Buffer.alloc(0), end: 'crashed' };
  for (const message of [PIECE, { ...PIECE, end: 'ended' as const }, end])
    assert.deepEqual(parseRecordingMessage(formatRecordingMessage(message)), message);
});

test('anything but a recording message is refused', () => {
  const changes: Record<string, unknown>[] = [
    { edge: '' },
    { recording: '../../x' },
    { recording: 'A' },
    { broadcast: 7 },
    { app: 'a/b' },
    { stream: '' },
    { domainId: -1 },
    { n: 1.5 },
    { durationMs: '1' },
    { isDiscontinuity: 0 },
    { end: 'somehow' },
    { initBytes: 0 },
    { initBytes: 10 },
    { domainId: 2 ** 31 },
    { n: 1e9 },
    { beganAt: 8.64e15 },
    { endsAt: Number.MAX_SAFE_INTEGER },
    { durationMs: 3_600_001 },
  ];
  const { bytes, ...head } = PIECE;
  const write = (line: unknown, media = bytes) => Buffer.concat([Buffer.from(`${JSON.stringify(line)}\n`), media]);
  for (const change of changes)
    assert.equal(parseRecordingMessage(write({ ...head, ...change })), undefined, JSON.stringify(change));
  assert.equal(
    parseRecordingMessage(write({ ...head, initBytes: 0 }, Buffer.alloc(0))),
    undefined,
    'neither media nor an end',
  );
  for (const text of ['', '{}', 'null\n', '{\n'])
    assert.equal(parseRecordingMessage(Buffer.from(text)), undefined, text);
});
