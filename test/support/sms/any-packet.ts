/** Any packet of a protocol of fixed fields, for property tests. */
import fc from 'fast-check';
import type { FixedField, FixedLayout, Table } from '#sms/wire/fixed-codec.ts';

const PLAIN = { noNullPrototype: true };

export interface AnyPacket {
  readonly command: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function anyPacket(table: Table): fc.Arbitrary<AnyPacket> {
  return fc
    .constantFrom(...Object.keys(table))
    .chain((command) =>
      fc.record({ command: fc.constant(command), fields: fieldsOf(table[command]?.fields ?? {}) }, PLAIN),
    );
}

function fieldsOf(layout: FixedLayout): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  return fc.record(
    Object.fromEntries(Object.entries(layout).map(([name, field]) => [name, arbitraryOf(field)])),
    PLAIN,
  );
}

function arbitraryOf(field: FixedField): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'none':
      return fc.constant(0);
    case 'u8':
      return fc.integer({ min: 0, max: 0xff });
    case 'u32':
      return fc.integer({ min: 0, max: 0xffffffff });
    case 'text':
      return letters(field.octets);
    case 'list':
      return fc.array(letters(field.octets), { maxLength: 5 });
    case 'hex':
      return fc
        .uint8Array({ minLength: field.octets, maxLength: field.octets })
        .map((octets) => Buffer.from(octets).toString('hex'));
    case 'content':
      return fc.uint8Array({ maxLength: 255, size: 'max' }).map((octets) => Buffer.from(octets));
  }
}

/** Blanks around a text are not kept. */
function letters(maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((it) => String.fromCharCode(it)), maxLength });
}
