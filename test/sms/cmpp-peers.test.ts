/** What tshark, which knows CMPP 3.0 alone of the protocols of gateways in China, makes of ours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cmppTable, encodeCmpp } from '#sms/cmpp/layouts.ts';
import type { FixedField, FixedLayout } from '#sms/wire/fixed-codec.ts';
import { needs } from '../support/runner/needs.ts';
import { dissect } from '../support/sms/dissect.ts';
import { PROTOCOLS, u32 } from '../support/sms/gateway-protocols.ts';

test(
  'tshark reads every PDU of CMPP 3.0 that we write, and finds none malformed',
  needs('tshark', 'text2pcap'),
  (t) => {
    const table = cmppTable('3.0');
    // The keys of the table are the commands.
    const commands = Object.keys(table) as (keyof typeof table)[];
    const pieces = commands.map((command, n) => {
      // A report would need the content of one.
      const fields = { ...sampleOf(table[command].fields), registeredDelivery: 0 } as never;
      return { from: 'us' as const, octets: encodeCmpp('3.0', { command, sequence: n + 1, fields }), sequence: n + 1 };
    });
    // What the gateway of our other tests writes is read as well.
    const { deliver, report } = PROTOCOLS.cmpp3;
    const content = Buffer.from('90008ba2', 'hex');
    const id = Buffer.from('be9ccd4000025dee', 'hex');
    for (const [n, octets] of [deliver(u32(101), { content }), report(u32(102), { id })].entries())
      pieces.push({ from: 'us' as const, octets, sequence: 101 + n });
    const columns = ['cmpp.Command_Id', 'cmpp.Sequence_Id', 'cmpp.Total_Length'];
    const expected = pieces.map(({ octets, sequence }) => ({
      'cmpp.Command_Id': `0x${octets.subarray(4, 8).toString('hex')}`,
      'cmpp.Sequence_Id': String(sequence),
      'cmpp.Total_Length': String(octets.length),
    }));
    assert.deepEqual(dissect(t, pieces, 'cmpp', columns, 'cmpp'), expected);
    assert.deepEqual(dissect(t, pieces, '_ws.malformed', ['frame.number'], 'cmpp'), []);
  },
);

/** One value for each field. */
function sampleOf(layout: FixedLayout): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(layout).map(([name, field]) => [name, sampleField(field)]));
}

function sampleField(field: FixedField): unknown {
  switch (field.kind) {
    case 'text':
      return field.octets === 17 ? '' : 'a1';
    case 'list':
      return ['13800138000'];
    case 'hex':
      return 'ab'.repeat(field.octets);
    case 'content':
      return Buffer.from('4f60', 'hex');
    default:
      return 1;
  }
}
