/**
 * Every PDU of SMPP 3.4: its number and its mandatory fields, in the order of the wire. Sizes of texts include their
 * final NUL.
 */

const u8 = { kind: 'u8' } as const;
const u32 = { kind: 'u32' } as const;
/** An octet with the length, then that many octets. */
const octets = { kind: 'octets' } as const;
const text = <const N extends number>(maxOctets: N) => ({ kind: 'text', maxOctets }) as const;

const EMPTY = {};
const ADDRESS_OCTETS = 21;
const MESSAGE_ID = text(65);
const TIME = text(17);
const SERVICE_TYPE = text(6);
/** Carriers assign longer passwords than the 9 octets of the standard. */
const PASSWORD = text(16);

const BIND = {
  systemId: text(16),
  password: PASSWORD,
  systemType: text(13),
  interfaceVersion: u8,
  addrTon: u8,
  addrNpi: u8,
  addressRange: text(41),
} as const;
const BIND_RESP = { systemId: text(16) } as const;
const SOURCE = { sourceAddrTon: u8, sourceAddrNpi: u8, sourceAddr: text(ADDRESS_OCTETS) } as const;
const DESTINATION = { destAddrTon: u8, destAddrNpi: u8, destinationAddr: text(ADDRESS_OCTETS) } as const;
const HANDLING = {
  esmClass: u8,
  protocolId: u8,
  priorityFlag: u8,
  scheduleDeliveryTime: TIME,
  validityPeriod: TIME,
  registeredDelivery: u8,
  replaceIfPresentFlag: u8,
  dataCoding: u8,
  smDefaultMsgId: u8,
  shortMessage: octets,
} as const;
const SHORT_MESSAGE = { serviceType: SERVICE_TYPE, ...SOURCE, ...DESTINATION, ...HANDLING } as const;
const MESSAGE_RESP = { messageId: MESSAGE_ID } as const;

const ENDPOINT = { ton: u8, npi: u8, address: text(ADDRESS_OCTETS) } as const;
/** An octet with the count, then that many groups. */
const destinations = {
  kind: 'groups',
  /** Layouts by the octet that precedes each group. */
  tagged: { 1: ENDPOINT, 2: { list: text(ADDRESS_OCTETS) } },
} as const;
const failures = { kind: 'groups', group: { ...ENDPOINT, status: u32 } } as const;

/** Command → its number and fields. A response has the number of its request with the highest bit set. */
export const LAYOUTS = {
  genericNack: { id: 0x80000000, fields: EMPTY },
  bindReceiver: { id: 0x00000001, fields: BIND },
  bindReceiverResp: { id: 0x80000001, fields: BIND_RESP },
  bindTransmitter: { id: 0x00000002, fields: BIND },
  bindTransmitterResp: { id: 0x80000002, fields: BIND_RESP },
  querySm: { id: 0x00000003, fields: { messageId: MESSAGE_ID, ...SOURCE } },
  querySmResp: {
    id: 0x80000003,
    fields: { messageId: MESSAGE_ID, finalDate: TIME, messageState: u8, errorCode: u8 },
  },
  submitSm: { id: 0x00000004, fields: SHORT_MESSAGE },
  submitSmResp: { id: 0x80000004, fields: MESSAGE_RESP },
  deliverSm: { id: 0x00000005, fields: SHORT_MESSAGE },
  deliverSmResp: { id: 0x80000005, fields: MESSAGE_RESP },
  unbind: { id: 0x00000006, fields: EMPTY },
  unbindResp: { id: 0x80000006, fields: EMPTY },
  replaceSm: {
    id: 0x00000007,
    fields: {
      messageId: MESSAGE_ID,
      ...SOURCE,
      scheduleDeliveryTime: TIME,
      validityPeriod: TIME,
      registeredDelivery: u8,
      smDefaultMsgId: u8,
      shortMessage: octets,
    },
  },
  replaceSmResp: { id: 0x80000007, fields: EMPTY },
  cancelSm: { id: 0x00000008, fields: { serviceType: SERVICE_TYPE, messageId: MESSAGE_ID, ...SOURCE, ...DESTINATION } },
  cancelSmResp: { id: 0x80000008, fields: EMPTY },
  bindTransceiver: { id: 0x00000009, fields: BIND },
  bindTransceiverResp: { id: 0x80000009, fields: BIND_RESP },
  outbind: { id: 0x0000000b, fields: { systemId: text(16), password: PASSWORD } },
  enquireLink: { id: 0x00000015, fields: EMPTY },
  enquireLinkResp: { id: 0x80000015, fields: EMPTY },
  submitMulti: { id: 0x00000021, fields: { serviceType: SERVICE_TYPE, ...SOURCE, destinations, ...HANDLING } },
  submitMultiResp: { id: 0x80000021, fields: { messageId: MESSAGE_ID, failures } },
  alertNotification: {
    id: 0x00000102,
    fields: {
      sourceAddrTon: u8,
      sourceAddrNpi: u8,
      sourceAddr: text(65),
      esmeAddrTon: u8,
      esmeAddrNpi: u8,
      esmeAddr: text(65),
    },
  },
  dataSm: {
    id: 0x00000103,
    fields: {
      serviceType: SERVICE_TYPE,
      sourceAddrTon: u8,
      sourceAddrNpi: u8,
      sourceAddr: text(65),
      destAddrTon: u8,
      destAddrNpi: u8,
      destinationAddr: text(65),
      esmClass: u8,
      registeredDelivery: u8,
      dataCoding: u8,
    },
  },
  dataSmResp: { id: 0x80000103, fields: MESSAGE_RESP },
} as const;

export type Command = keyof typeof LAYOUTS;

/** Type of a field in a layout. */
export type Field = Plain | Groups;
type Plain = { readonly kind: 'u8' | 'u32' | 'octets' } | { readonly kind: 'text'; readonly maxOctets: number };
export type Groups =
  | { readonly kind: 'groups'; readonly group: Layout }
  | { readonly kind: 'groups'; readonly tagged: Readonly<Record<number, Layout>> };
export type Layout = Readonly<Record<string, Field>>;

/** Decoded value of a field. */
export type Value = number | string | Buffer | readonly Group[];
/** Decoded group; `flag` is the octet that names its layout. */
export type Group = Readonly<Record<string, Value>>;

type ValueOf<F> = F extends { readonly kind: 'u8' | 'u32' }
  ? number
  : F extends { readonly kind: 'octets' }
    ? Buffer
    : F extends { readonly kind: 'text' }
      ? string
      : readonly Group[];

export type Fields<C extends Command> = {
  readonly [K in keyof (typeof LAYOUTS)[C]['fields']]: ValueOf<(typeof LAYOUTS)[C]['fields'][K]>;
};

export interface Tlv {
  readonly tag: number;
  readonly value: Buffer;
}

export interface PduOf<C extends Command> {
  readonly command: C;
  readonly status: number;
  readonly sequence: number;
  readonly fields: Fields<C>;
  /** Optional parameters in the order of the wire, unknown ones included. */
  readonly tlvs: readonly Tlv[];
}

export type Pdu = { readonly [C in Command]: PduOf<C> }[Command];

export const RESPONSE_BIT = 0x80000000;

const BY_ID: ReadonlyMap<number, Command> = new Map(
  // `as`: the keys of the table are the commands.
  (Object.keys(LAYOUTS) as Command[]).map((command) => [LAYOUTS[command].id, command]),
);

export function commandOf(id: number): Command | undefined {
  return BY_ID.get(id);
}
