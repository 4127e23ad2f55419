/** PDUs of gateways whose length is right and whose content is not, ten for each protocol. */
import {
  GATEWAY_NODE,
  type GatewayKind,
  type GatewayProtocol,
  PROTOCOLS,
  packet,
  text,
  u8,
  u32,
} from './gateway-protocols.ts';

export interface Poison {
  readonly octets: Buffer;
  /** What becomes of it: a stored receipt, reply or unreadable PDU, or nothing. */
  readonly becomes: 'receipt' | 'reply' | 'unread' | 'nothing';
}

export function poisonsOf(kind: GatewayKind): Readonly<Record<string, Poison>> {
  const protocol = PROTOCOLS[kind];
  const own = kind === 'sgip' ? sgipPoisons(protocol) : kind === 'smgp' ? smgpPoisons(protocol) : cmppPoisons(kind);
  return { ...commonPoisons(protocol), ...own };
}

const CONTENT = Buffer.from('90008ba2', 'hex');
const NUMBER = 500;

function commonPoisons(protocol: GatewayProtocol): Readonly<Record<string, Poison>> {
  const sequence = protocol.sequence(NUMBER);
  const reply = protocol.deliver(sequence, { content: CONTENT });
  const tail = protocol === PROTOCOLS.cmpp3 ? 20 : 8;
  const lying = Buffer.from(reply);
  lying[reply.length - tail - CONTENT.length - 1] = 200;
  const padded = protocol.deliver(sequence, { from: '  +8613800138000', to: ' 1069 ', content: CONTENT });
  return {
    'a surplus octet': { octets: resized(reply, 1), becomes: 'reply' },
    'a cut tail': { octets: resized(reply, -3), becomes: 'reply' },
    'no tail': { octets: resized(reply, -tail), becomes: 'reply' },
    'a length beyond the end': { octets: lying, becomes: 'reply' },
    'padded numbers': { octets: padded, becomes: 'reply' },
    'an unknown command': { octets: packet(0x99, sequence, CONTENT), becomes: 'nothing' },
    'a command between gateways': { octets: packet(0x12, sequence, Buffer.alloc(30)), becomes: 'nothing' },
    'an unknown answer': { octets: packet(0x80000055, sequence), becomes: 'nothing' },
    'a deliver of a few octets': { octets: packet(protocol.ids.deliver, sequence, CONTENT), becomes: 'unread' },
  };
}

function cmppPoisons(kind: 'cmpp2' | 'cmpp3'): Readonly<Record<string, Poison>> {
  const protocol = PROTOCOLS[kind];
  const sequence = protocol.sequence(NUMBER);
  const id = Buffer.from('be9ccd4000025dee', 'hex');
  const reportOf = (content: Buffer) => {
    const octets = protocol.deliver(sequence, { coding: 0, content });
    octets[kind === 'cmpp3' ? 87 : 75] = 1;
    return octets;
  };
  const fields = [id, text('DELIVRD', 7), text('26112907012611290702', 20)];
  // The number has the width of the other version.
  const other = Buffer.concat([...fields, text('13800138000', kind === 'cmpp3' ? 21 : 32), u32(7)]);
  return {
    'a report of the other version': { octets: reportOf(other), becomes: 'receipt' },
    'a report of a few octets': { octets: reportOf(other.subarray(0, 20)), becomes: 'unread' },
    'an active test with a body': { octets: packet(8, sequence, CONTENT), becomes: 'nothing' },
  };
}

function smgpPoisons(protocol: GatewayProtocol): Readonly<Record<string, Poison>> {
  const sequence = protocol.sequence(NUMBER);
  const reply = protocol.deliver(sequence, { content: CONTENT });
  const whole = protocol.report(sequence, { id: Buffer.alloc(10, 0x20) });
  const short = protocol.deliver(sequence, { coding: 0, content: Buffer.from('id:12') });
  short[22] = 1;
  return {
    'a parameter that is longer than its PDU': { octets: resized(reply, 5, u8(0, 2, 0, 9, 1)), becomes: 'reply' },
    'a report without its tail': { octets: resized(whole, -8), becomes: 'receipt' },
    'a report of a few octets': { octets: short, becomes: 'unread' },
    'an active test with a body': { octets: packet(4, sequence, CONTENT), becomes: 'nothing' },
  };
}

function sgipPoisons(protocol: GatewayProtocol): Readonly<Record<string, Poison>> {
  const sequence = protocol.sequence(NUMBER);
  const id = Buffer.concat([u32(GATEWAY_NODE), u32(1), u32(2)]);
  const report = protocol.report(sequence, { id });
  return {
    'a report without its tail': { octets: resized(report, -8), becomes: 'receipt' },
    'a report of a few octets': { octets: resized(report, -31), becomes: 'unread' },
    'a report of a phone with a body': { octets: packet(0x11, sequence, CONTENT), becomes: 'nothing' },
  };
}

/** Longer or shorter, with the right length. */
function resized(octets: Buffer, by: number, surplus = Buffer.alloc(Math.max(by, 0), 0x41)): Buffer {
  const changed = by < 0 ? Buffer.from(octets.subarray(0, by)) : Buffer.concat([octets, surplus]);
  changed.writeUInt32BE(changed.length, 0);
  return changed;
}
