import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAmf0 } from './amf0.ts';
import { MESSAGE_TYPE, plainData, RtmpMessageError, splitAggregate } from './messages.ts';

const AGGREGATE = { type: MESSAGE_TYPE.aggregate, timestamp: 5000, streamId: 1 };
const TWO = '09 000002 000064 00 000000 1701 0000000d  08 000001 00006e 00 000000 af 0000000c';

test('an aggregate is split, its timestamps counted from its own', () => {
  const messages = [...splitAggregate({ ...AGGREGATE, payload: bytesOf(TWO) })];
  assert.deepEqual(
    messages.map(({ type, timestamp, streamId, payload }) => [type, timestamp, streamId, payload.toString('hex')]),
    [
      [9, 5000, 1, '1701'],
      [8, 5010, 1, 'af'],
    ],
  );
});

test('the last trailer may be missing, and timestamps have 32 bits', () => {
  const payload = bytesOf('09 000001 ffffff ff 000000 17 0000000c 08 000001 000001 00 000000 af');
  assert.deepEqual(
    [...splitAggregate({ ...AGGREGATE, payload })].map(({ timestamp }) => timestamp),
    [5000, 5002],
  );
});

test('an aggregate that ends too soon is refused', () => {
  for (const bytes of [10, 12, 20, 28])
    assert.throws(
      () => [...splitAggregate({ ...AGGREGATE, payload: bytesOf(TWO).subarray(0, bytes) })],
      RtmpMessageError,
    );
});

test('metadata loses the command for the server', () => {
  const metadata = encodeAmf0('onMetaData', { width: 1 });
  const data = { type: MESSAGE_TYPE.data, timestamp: 0, streamId: 1 };
  const set = Buffer.concat([encodeAmf0('@setDataFrame'), metadata]);
  assert.deepEqual(plainData({ ...data, payload: set }), metadata);
  assert.deepEqual(plainData({ ...data, payload: metadata }), metadata);
  const amf3 = Buffer.concat([Buffer.of(0), set]);
  assert.deepEqual(plainData({ ...data, type: MESSAGE_TYPE.dataAmf3, payload: amf3 }), metadata);
  assert.equal(plainData({ ...data, payload: encodeAmf0('@clearDataFrame', 'onMetaData') }), undefined);
  assert.deepEqual(plainData({ ...data, payload: Buffer.alloc(0) }), Buffer.alloc(0));
});

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}
