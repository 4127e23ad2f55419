/** What a PDU holds ends no session: docs/decisions/0420 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { anyPdu } from '../../../test/support/sms/any-pdu.ts';
import { beginSession, idOf, MESSAGE } from '../../../test/support/sms/smpp-session.ts';
import { encodePdu } from './encode.ts';
import { type Command, type Fields, LAYOUTS } from './layouts.ts';

const ACCEPTED: Fields<'submitSmResp'> = { messageId: '1a' };

test('PDUs that precede invalid octets in one piece count before the session ends', async () => {
  const it = beginSession();
  it.answer('bindTransceiverResp', { systemId: '' });
  const answer = it.submit();
  const said = encodePdu({ command: 'submitSmResp', status: 0, sequence: 2, fields: ACCEPTED, tlvs: [] });
  it.receive(Buffer.concat([said, Buffer.from('fffefdfffefdfffefdfffefd', 'hex')]));
  assert.deepEqual([idOf(await answer), it.ends[0]?.kind], ['1a', 'malformed']);
});

const WITH_CONTENT = Object.keys(LAYOUTS).filter((command) => command !== 'unbind') as Command[];

test('no PDU ends a session, wherever it is cut and whatever surplus it has, and later answers count', async () => {
  const poison = fc
    .tuple(anyPdu, fc.nat(), fc.uint8Array({ maxLength: 3 }), fc.boolean())
    .filter(([{ command }]) => WITH_CONTENT.includes(command))
    .map(([pdu, at, surplus, isCut]) => {
      // Its own number: an answer that is meant for the part is another matter.
      const octets = encodePdu({ ...pdu, sequence: 999 });
      const end = isCut ? 16 + (at % (octets.length - 15)) : octets.length;
      return withLength(Buffer.concat([octets.subarray(0, end), surplus]));
    });
  await fc.assert(
    fc.asyncProperty(fc.array(poison, { minLength: 1, maxLength: 5 }), async (poisons) => {
      const it = beginSession();
      it.answer('bindTransceiverResp', { systemId: '' });
      const answer = it.submit();
      const said = encodePdu({ command: 'submitSmResp', status: 0, sequence: 2, fields: ACCEPTED, tlvs: [] });
      it.receive(Buffer.concat([...poisons, said]));
      assert.equal(idOf(await answer), '1a');
      await turn();
      assert.deepEqual([it.session.isBound, it.ends], [true, []]);
    }),
    { numRuns: 300 },
  );
});

test('a delivery that ends anywhere, or has surplus octets, is reported and answered by its own answer', async () => {
  const whole = encodePdu({ command: 'deliverSm', status: 0, sequence: 7, fields: MESSAGE, tlvs: [] });
  const pieces = Array.from({ length: whole.length - 16 }, (_, n) => whole.subarray(0, 16 + n));
  for (const octets of [...pieces, ...[1, 2, 3].map((more) => Buffer.concat([whole, Buffer.alloc(more, 0x41)]))]) {
    const told: Buffer[] = [];
    const it = beginSession({}, async (_packet, frame) => {
      told.push(frame);
      return true;
    });
    it.answer('bindTransceiverResp', { systemId: '' });
    it.receive(withLength(Buffer.from(octets)));
    await turn();
    const { command, status, sequence } = it.sent().at(-1) ?? {};
    assert.deepEqual([command, status, sequence], ['deliverSmResp', 0, 7]);
    assert.deepEqual([told.length, told[0]?.length], [1, octets.length]);
  }
});

test('an answer whose id cannot be read is an answer', async () => {
  for (const [octets, id] of [
    ['00000010800000040000000000000002', ''],
    ['0000001180000004000000000000000200', ''],
    ['000000128000000400000000000000023331', '31'],
    ['000000148000000400000000000000023100ffff', '1'],
  ] as const) {
    const it = beginSession();
    it.answer('bindTransceiverResp', { systemId: '' });
    const answer = it.submit();
    it.receive(Buffer.from(octets, 'hex'));
    assert.equal(idOf(await answer), id, octets);
  }
});

test('an answer to the bind is read as leniently', () => {
  for (const octets of [
    '00000010800000090000000000000001',
    '0000001480000009000000000000000161626364',
    '000000168000000900000000000000016100ffffffff',
  ]) {
    const it = beginSession();
    it.receive(Buffer.from(octets, 'hex'));
    assert.ok(it.session.isBound, octets);
  }
});

/** Prepends the right command_length. */
function withLength(octets: Buffer): Buffer {
  octets.writeUInt32BE(octets.length, 0);
  return octets;
}
