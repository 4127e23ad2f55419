/** What a session of SMPP is begun with, in tests that are not about that. */
import type { Fields } from '../../../src/sms/smpp/layouts.ts';

export const BIND: Fields<'bindTransceiver'> = {
  systemId: 'a',
  password: 'b',
  systemType: '',
  interfaceVersion: 0x34,
  addrTon: 0,
  addrNpi: 0,
  addressRange: '',
};

export const SESSION_TIMES = { bindMs: 10_000, enquireMs: 30_000, inactivityMs: 40_000, responseMs: 30_000 };
