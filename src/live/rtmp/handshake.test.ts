import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { beginHandshake, endHandshake } from '../../../test/support/live/rtmp-handshake.ts';
import { answerHandshake, HANDSHAKE_END_BYTES } from './handshake.ts';
import { type HandshakeStep, ServerHandshake } from './server-handshake.ts';

const SERVER_RANDOM = pseudoRandom('server', 2 * HANDSHAKE_END_BYTES);

test('a simple handshake is answered with the client’s own bytes, and zeros that say it is simple', () => {
  const start = beginHandshake(pseudoRandom('client', HANDSHAKE_END_BYTES), undefined);
  const answer = answerHandshake(start, SERVER_RANDOM);
  assert.equal(answer.length, 1 + 2 * HANDSHAKE_END_BYTES);
  assert.deepEqual(answer.subarray(1 + HANDSHAKE_END_BYTES), start.subarray(1));
  assert.equal(answer.readUInt32BE(5), 0);
});

for (const schema of [0, 1] as const)
  test(`a signed handshake is answered with a signed one, in schema ${schema}`, () => {
    // The places of the digests depend on the bytes: many of them.
    for (let seed = 0; seed < 50; seed++) {
      const random = pseudoRandom(`client ${seed}`, HANDSHAKE_END_BYTES);
      const start = beginHandshake(random, schema);
      const answer = answerHandshake(start, pseudoRandom(`server ${seed}`, 2 * HANDSHAKE_END_BYTES));
      assert.notEqual(endHandshake(start, answer, random, schema), undefined);
      const broken = Buffer.from(answer);
      broken.writeUInt8(broken.readUInt8(1000) ^ 1, 1000);
      assert.equal(endHandshake(start, broken, random, schema), undefined);
    }
  });

test('bytes that only look signed are answered as a simple handshake', () => {
  const start = beginHandshake(pseudoRandom('client', HANDSHAKE_END_BYTES), 0);
  start.writeUInt8(start.readUInt8(1500) ^ 1, 1500);
  assert.deepEqual(answerHandshake(start, SERVER_RANDOM).subarray(1 + HANDSHAKE_END_BYTES), start.subarray(1));
});

test('the server reads a handshake in pieces of any size, and returns the bytes after it', () => {
  const start = beginHandshake(pseudoRandom('client', HANDSHAKE_END_BYTES), 1);
  const all = Buffer.concat([start, Buffer.alloc(HANDSHAKE_END_BYTES), Buffer.from('rest')]);
  for (const size of [1, 7, 1536, 1537, 1538, 3073, 3077]) {
    const handshake = new ServerHandshake((bytes) => SERVER_RANDOM.subarray(0, bytes));
    let answers = 0;
    let rest = '';
    let isDone = false;
    for (let at = 0; at < all.length; at += size) {
      const bytes = all.subarray(at, at + size);
      const step: HandshakeStep | undefined = isDone ? undefined : handshake.push(bytes);
      if (step === undefined) rest += bytes.toString('latin1');
      else if (step.kind === 'foreign') assert.fail('not foreign');
      else {
        if (step.answer !== undefined) answers++;
        if (step.kind === 'done') rest = step.rest.toString('latin1');
        isDone = step.kind === 'done';
      }
    }
    assert.deepEqual([answers, rest], [1, 'rest'], `pieces of ${size}`);
  }
});

test('another protocol is recognised by its first byte', () => {
  for (const text of ['GET / HTTP/1.1\r\n', '\x06', '\x16\x03\x01'])
    assert.equal(new ServerHandshake(() => SERVER_RANDOM).push(Buffer.from(text, 'latin1')).kind, 'foreign');
});

function pseudoRandom(seed: string, size: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(size / 32) }, (_, index) =>
    createHash('sha256').update(`${seed} ${index}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, size);
}
