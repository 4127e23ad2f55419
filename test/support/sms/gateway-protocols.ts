/**
 * CMPP, SMGP and SGIP as a gateway speaks them, written by hand from the carriers' documents: places and sizes are not taken from
 * the product's tables, so that an error there is not on both sides.
 */
import { createHash } from 'node:crypto';

export type GatewayKind = 'cmpp2' | 'cmpp3' | 'smgp' | 'sgip';

/** What a gateway reads of a submit. */
export interface ReadSubmit {
  /** Sequence in the header. */
  readonly sequence: Buffer;
  readonly sender: string;
  readonly number: string;
  readonly enterprise: string;
  readonly service: string;
  readonly coding: number;
  readonly udhi: number;
  /** Content with its user data header. */
  readonly content: Buffer;
  /** Number of the part and how many there are, as the fields say; 0: there is no such field. */
  readonly part: number;
  readonly parts: number;
  readonly wantsReport: number;
}

export interface PhoneMessage {
  readonly from?: string;
  readonly to?: string;
  readonly coding?: number;
  readonly udhi?: number;
  readonly content: Buffer;
}

export interface Report {
  /** Octets of the message's id. */
  readonly id: Buffer;
  readonly number?: string;
  /** CMPP, SMGP. */
  readonly word?: string;
  /** SMGP. */
  readonly error?: string;
  /** SGIP. */
  readonly state?: number;
  readonly errorCode?: number;
}

export interface GatewayProtocol {
  readonly headerOctets: number;
  /** Commands of requests; an answer has the highest bit set. */
  readonly ids: {
    readonly login: number;
    readonly submit: number;
    readonly deliver: number;
    readonly bye: number;
    readonly alive?: number;
  };
  /** Status of a login: 0 if the secret is right. */
  login(frame: Buffer, password: string): number;
  loginAnswer(frame: Buffer, status: number, password: string): Buffer;
  readSubmit(frame: Buffer): ReadSubmit;
  /** `n`: number of the submit, from 1. */
  idOf(submit: ReadSubmit, n: number): Buffer;
  submitAnswer(submit: ReadSubmit, id: Buffer, result: number): Buffer;
  deliver(sequence: Buffer, message: PhoneMessage): Buffer;
  report(sequence: Buffer, report: Report): Buffer;
  sequence(n: number): Buffer;
}

const ANSWER = 0x80000000;

export function packet(id: number, sequence: Buffer, ...body: readonly Buffer[]): Buffer {
  const rest = Buffer.concat([u32(id >>> 0), sequence, ...body]);
  return Buffer.concat([u32(rest.length + 4), rest]);
}

export function answer(frame: Buffer, ...body: readonly Buffer[]): Buffer {
  return packet(frame.readUInt32BE(4) + ANSWER, sequenceOf(frame), ...body);
}

export const u8 = (...values: readonly number[]) => Buffer.from(values);
export function u32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}
export function text(value: string, octets: number): Buffer {
  const field = Buffer.alloc(octets);
  field.write(value, 'latin1');
  return field;
}

function sequenceOf(frame: Buffer): Buffer {
  // Only SGIP has requests with more than one word; see `isSgip`.
  return frame.subarray(8, frame.length >= 20 && isSgip(frame) ? 20 : 12);
}

/** The node number of tests, which no other protocol has as a sequence. */
export const TEST_NODE = 3_010_012_345;
export const GATEWAY_NODE = 110_000;
const isSgip = (frame: Buffer) => [TEST_NODE, GATEWAY_NODE].includes(frame.readUInt32BE(8));

function read(frame: Buffer, at: number, octets: number): string {
  return frame.toString('latin1', at, at + octets).replace(/\0+$/, '');
}

function md5(...pieces: readonly (string | Buffer)[]): Buffer {
  const digest = createHash('md5');
  for (const piece of pieces) digest.update(piece);
  return digest.digest();
}

function cmpp(isThree: boolean): GatewayProtocol {
  const number = isThree ? 32 : 21;
  const status = (value: number) => (isThree ? u32(value) : u8(value));
  const type = isThree ? u8(0) : u8();
  const tail = Buffer.alloc(isThree ? 20 : 8);
  const deliver = (
    sequence: Buffer,
    isReport: number,
    { from = PHONE, to = '1069', coding = 8, udhi = 0, content }: PhoneMessage,
  ) =>
    packet(
      ...([5, sequence, Buffer.alloc(8, 7), text(to, 21), text('S', 10), u8(0, udhi, coding)] as const),
      ...[text(from, number), type, u8(isReport, content.length), content, tail],
    );
  return {
    headerOctets: 12,
    ids: { login: 1, submit: 4, deliver: 5, bye: 2, alive: 8 },
    login(frame, password) {
      const stamp = String(frame.readUInt32BE(35)).padStart(10, '0');
      const digest = md5(read(frame, 12, 6), Buffer.alloc(9), password, stamp);
      return digest.equals(frame.subarray(18, 34)) ? 0 : 3;
    },
    loginAnswer: (frame, result, password) =>
      answer(frame, status(result), md5(status(result), frame.subarray(18, 34), password), u8(isThree ? 0x30 : 0x20)),
    readSubmit(frame) {
      const at = isThree ? 68 : 56;
      const length = at + 73 + number + (isThree ? 1 : 0);
      return {
        ...{ sequence: sequenceOf(frame), sender: read(frame, at + 51, 21), number: read(frame, at + 73, number) },
        ...{ enterprise: read(frame, at + 3, 6), service: read(frame, 24, 10), udhi: frame.readUInt8(at + 1) },
        ...{ coding: frame.readUInt8(at + 2), parts: frame.readUInt8(20), part: frame.readUInt8(21) },
        content: frame.subarray(length + 1, length + 1 + frame.readUInt8(length)),
        wantsReport: frame.readUInt8(22),
      };
    },
    idOf: (_submit, n) => Buffer.concat([Buffer.from('be9ccd40', 'hex'), u32(n)]),
    submitAnswer: ({ sequence }, id, result) => packet(4 + ANSWER, sequence, id, status(result)),
    deliver: (sequence, message) => deliver(sequence, 0, message),
    report: (sequence, { id, number: phone = PHONE, word = 'DELIVRD' }) =>
      deliver(sequence, 1, {
        from: phone,
        coding: 0,
        content: Buffer.concat([id, text(word, 7), text('26112907012611290702', 20), text(phone, number), u32(7)]),
      }),
    sequence: u32,
  };
}

const PHONE = '13800138000';

const smgp: GatewayProtocol = {
  headerOctets: 12,
  ids: { login: 1, submit: 2, deliver: 3, bye: 6, alive: 4 },
  login(frame, password) {
    const stamp = String(frame.readUInt32BE(37)).padStart(10, '0');
    const digest = md5(read(frame, 12, 8), Buffer.alloc(7), password, stamp);
    return digest.equals(frame.subarray(20, 36)) ? 0 : 21;
  },
  loginAnswer: (frame, result, password) =>
    answer(frame, u32(result), md5(u32(result), frame.subarray(20, 36), password), u8(0x30)),
  readSubmit(frame) {
    const end = 139 + frame.readUInt8(138);
    const tlvs = new Map<number, Buffer>();
    for (let at = end + 8; at < frame.length; at += 4 + frame.readUInt16BE(at + 2))
      tlvs.set(frame.readUInt16BE(at), frame.subarray(at + 4, at + 4 + frame.readUInt16BE(at + 2)));
    return {
      ...{ sequence: sequenceOf(frame), sender: read(frame, 74, 21), number: read(frame, 117, 21) },
      ...{ enterprise: read(tlvs.get(16) ?? u8(), 0, 8), service: read(frame, 15, 10), udhi: tlvs.get(2)?.[0] ?? 0 },
      ...{ coding: frame.readUInt8(39), part: tlvs.get(10)?.[0] ?? 0, parts: tlvs.get(9)?.[0] ?? 0 },
      ...{ content: frame.subarray(139, end), wantsReport: frame.readUInt8(13) },
    };
  },
  // It may hold any octet.
  idOf: (_submit, n) => Buffer.concat([Buffer.from('203a00112907', 'hex'), u32(n)]),
  submitAnswer: ({ sequence }, id, result) => packet(2 + ANSWER, sequence, id, u32(result)),
  deliver: (sequence, message) => smgpDeliver(sequence, 0, message),
  report: (sequence, { id, number = PHONE, word = 'DELIVRD', error = '000' }) => {
    const fields = ` sub:001 dlvrd:001 Submit date:2611290701 done date:2611290702 stat:${word} err:${error} Text:`;
    const content = Buffer.concat([Buffer.from('id:'), id, Buffer.from(fields), text('003abc', 20)]);
    return smgpDeliver(sequence, 1, { from: number, coding: 0, content });
  },
  sequence: u32,
};

function smgpDeliver(
  sequence: Buffer,
  isReport: number,
  { from = PHONE, to = '1069', coding = 8, udhi = 0, content }: PhoneMessage,
): Buffer {
  return packet(
    ...([3, sequence, Buffer.alloc(10, 7), u8(isReport, coding), text('20261129070200', 14)] as const),
    ...[text(from, 21), text(to, 21), u8(content.length), content, Buffer.alloc(8)],
    udhi === 0 ? u8() : u8(0, 2, 0, 1, udhi),
  );
}

const sgip: GatewayProtocol = {
  headerOctets: 20,
  ids: { login: 1, submit: 3, deliver: 4, bye: 2 },
  login: (frame, password) => (read(frame, 37, 16) === password ? 0 : 1),
  loginAnswer: (frame, result) => answer(frame, u8(result), Buffer.alloc(8)),
  readSubmit: (frame) => ({
    ...{ sequence: sequenceOf(frame), sender: read(frame, 20, 21), number: read(frame, 63, 21) },
    ...{ enterprise: read(frame, 84, 5), service: read(frame, 89, 10), udhi: frame.readUInt8(149) },
    ...{ coding: frame.readUInt8(150), part: 0, parts: 0, wantsReport: frame.readUInt8(147) },
    content: frame.subarray(156, 156 + frame.readUInt32BE(152)),
  }),
  idOf: ({ sequence }) => sequence,
  submitAnswer: ({ sequence }, _id, result) => packet(3 + ANSWER, sequence, u8(result), Buffer.alloc(8)),
  deliver: (sequence, { from = `86${PHONE}`, to = '1069', coding = 8, udhi = 0, content }) =>
    packet(
      ...([4, sequence, text(from, 21), text(to, 21), u8(0, udhi, coding)] as const),
      ...[u32(content.length), content, Buffer.alloc(8)],
    ),
  report: (sequence, { id, number = `86${PHONE}`, state = 0, errorCode = 0 }) =>
    packet(5, sequence, id, u8(0), text(number, 21), u8(state, errorCode), Buffer.alloc(8)),
  sequence: (n) => Buffer.concat([u32(GATEWAY_NODE), u32(1_129_071_500), u32(n)]),
};

export const PROTOCOLS: Readonly<Record<GatewayKind, GatewayProtocol>> = {
  cmpp2: cmpp(false),
  cmpp3: cmpp(true),
  smgp,
  sgip,
};
