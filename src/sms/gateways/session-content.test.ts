/** What a packet of a gateway holds ends no session: docs/decisions/0420 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { beginGatewaySession, GATEWAY_KINDS } from '../../../test/support/sms/gateway-dialects.ts';
import { poisonsOf } from '../../../test/support/sms/gateway-poisons.ts';
import { packet, u32 } from '../../../test/support/sms/gateway-protocols.ts';
import type { Delivery } from '../wire/dialect.ts';

for (const kind of GATEWAY_KINDS)
  describe(`malformed content of ${kind}`, () => {
    for (const [name, poison] of Object.entries(poisonsOf(kind)))
      test(`${name} between a submit and its answer: both parts are answered`, async () => {
        const told: (Delivery | undefined)[] = [];
        const it = beginGatewaySession(kind, {}, async (delivery) => {
          told.push(delivery);
          return true;
        });
        const first = it.submit(1);
        const { submitAnswer, idOf } = it.protocol;
        const before = it.written.length;
        it.receive(Buffer.concat([poison.octets, submitAnswer(first.submit, idOf(first.submit, 1), 0)]));
        assert.equal((await first.outcome).kind, 'accepted');
        const second = it.submit(2);
        it.receive(submitAnswer(second.submit, idOf(second.submit, 2), 0));
        assert.equal((await second.outcome).kind, 'accepted');
        await turn();
        assert.deepEqual([it.session.isBound, it.ends], [true, []]);
        assert.deepEqual(
          told.map((delivery) => delivery?.kind),
          poison.becomes === 'nothing' ? [] : [poison.becomes],
        );
        if (poison.becomes === 'nothing') return;
        // Acknowledged under its own number, as stored: the octets of every positive answer end with zeros.
        const answers = it.written.slice(before).filter((octets) => octets.readUInt32BE(4) >= 0x80000000);
        const [answer = Buffer.alloc(0)] = answers;
        const { headerOctets } = it.protocol;
        assert.equal(answers.length, 1);
        assert.deepEqual(answer.subarray(8, headerOctets), poison.octets.subarray(8, headerOctets));
        assert.equal(answer.readUInt32BE(4) - 0x80000000, poison.octets.readUInt32BE(4));
        const [delivery] = told;
        if (delivery?.kind === 'reply') assert.equal(delivery.message.text, '退订');
        if (name === 'padded numbers' && delivery?.kind === 'reply')
          assert.deepEqual([delivery.message.origin, delivery.message.destination], ['+8613800138000', '1069']);
      });

    test('any packet of any command with any content ends no session', async () => {
      const commands = fc.constantFrom(...Object.values(poisonsOf(kind)).map(({ octets }) => octets.readUInt32BE(4)));
      await fc.assert(
        fc.asyncProperty(commands, fc.uint8Array({ maxLength: 200, size: 'max' }), async (id, body) => {
          const it = beginGatewaySession(kind);
          it.receive(packet(id, it.protocol.sequence(9), Buffer.from(body)));
          await turn();
          assert.deepEqual(it.ends, []);
        }),
        { numRuns: 200 },
      );
    });

    test('an impossible length ends the session, after the packets before it', async () => {
      for (const length of [0, 11, 10_001, 0x80000000]) {
        const it = beginGatewaySession(kind);
        const part = it.submit();
        const answer = it.protocol.submitAnswer(part.submit, it.protocol.idOf(part.submit, 1), 0);
        it.receive(Buffer.concat([answer, u32(length), Buffer.alloc(20)]));
        assert.equal((await part.outcome).kind, 'accepted');
        assert.deepEqual(
          it.ends.map((end) => end.kind),
          ['malformed'],
        );
      }
    });

    test('a conversation that arrives octet by octet is the same', async () => {
      const told: (Delivery | undefined)[] = [];
      const it = beginGatewaySession(kind, {}, async (delivery) => {
        told.push(delivery);
        return true;
      });
      const part = it.submit();
      const { protocol } = it;
      const id = protocol.idOf(part.submit, 1);
      const all = [protocol.report(protocol.sequence(7), { id }), protocol.submitAnswer(part.submit, id, 0)];
      for (const octet of Buffer.concat(all)) it.receive(Buffer.of(octet));
      const outcome = await part.outcome;
      await turn();
      assert.ok(outcome.kind === 'accepted');
      const [report] = told;
      assert.ok(report?.kind === 'receipt');
      assert.deepEqual([report.receipt.keys, report.receipt.state], [outcome.keys, 'delivered']);
    });

    test('what cannot be stored is not acknowledged, or answered as busy if the connector says so', async () => {
      for (const again of ['silence', 'busy'] as const) {
        const it = beginGatewaySession(kind, { again }, async () => false);
        const before = it.written.length;
        it.receive(it.protocol.deliver(it.protocol.sequence(7), { content: Buffer.from('T') }));
        await turn();
        const answers = it.written.slice(before).map((octets) => octets.subarray(it.protocol.headerOctets));
        assert.equal(answers.length, again === 'busy' ? 1 : 0);
        if (again === 'busy')
          assert.notEqual(
            answers[0]?.reduce((sum, octet) => sum + octet, 0),
            0,
          );
      }
    });
  });
