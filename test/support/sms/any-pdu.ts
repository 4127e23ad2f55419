/** Any PDU of SMPP 3.4, for property tests. */
import fc from 'fast-check';
import { type Command, type Field, LAYOUTS, type Layout, type Pdu, type Value } from '#sms/smpp/layouts.ts';

const PLAIN = { noNullPrototype: true };

/** `as`: the fields are made from the layout that their type is made from. */
export const anyPdu = fc.constantFrom(...(Object.keys(LAYOUTS) as Command[])).chain((command) =>
  fc.record(
    {
      command: fc.constant(command),
      status: fc.constantFrom(0, 8, 0x58, 0xffffffff),
      sequence: fc.integer({ min: 0, max: 0x7fffffff }),
      fields: fieldsOf(LAYOUTS[command].fields),
      tlvs: fc.array(fc.record({ tag: fc.integer({ min: 0, max: 0xffff }), value: octets(300) }, PLAIN), {
        maxLength: 4,
      }),
    },
    PLAIN,
  ),
) as fc.Arbitrary<unknown> as fc.Arbitrary<Pdu>;

function fieldsOf(layout: Layout): fc.Arbitrary<Readonly<Record<string, Value>>> {
  return fc.record(
    Object.fromEntries(Object.entries(layout).map(([name, field]) => [name, arbitraryOf(field)])),
    PLAIN,
  );
}

function arbitraryOf(field: Field): fc.Arbitrary<Value> {
  switch (field.kind) {
    case 'text':
      return fc.string({
        unit: fc.integer({ min: 1, max: 255 }).map((it) => String.fromCharCode(it)),
        maxLength: field.maxOctets - 1,
      });
    case 'octets':
      return octets(254);
    case 'groups': {
      if (!('tagged' in field)) return fc.array(fieldsOf(field.group), { maxLength: 3 });
      const kinds = Object.entries(field.tagged).map(([flag, group]) =>
        fieldsOf(group).map((fields) => ({ flag: Number(flag), ...fields })),
      );
      return fc.array(fc.oneof(...kinds), { maxLength: 3 });
    }
    default:
      return fc.integer({ min: 0, max: field.kind === 'u8' ? 0xff : 0xffffffff });
  }
}

function octets(maxLength: number): fc.Arbitrary<Buffer> {
  return fc.uint8Array({ maxLength }).map((it) => Buffer.from(it));
}
