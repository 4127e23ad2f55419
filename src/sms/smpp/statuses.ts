/** What a carrier's command_status means. docs/decisions/0204, 0751 */
import type { RefusalClass } from '../carrier.ts';
import type { Impossible } from '../wire/dialect.ts';

export const STATUS = {
  ok: 0x00,
  invalidMessageLength: 0x01,
  invalidCommandLength: 0x02,
  invalidCommand: 0x03,
  invalidBindState: 0x04,
  alreadyBound: 0x05,
  systemError: 0x08,
  invalidSource: 0x0a,
  invalidDestination: 0x0b,
  bindFailed: 0x0d,
  invalidPassword: 0x0e,
  invalidSystemId: 0x0f,
  queueFull: 0x14,
  invalidServiceType: 0x15,
  invalidSourceTon: 0x48,
  invalidSourceNpi: 0x49,
  invalidDestinationTon: 0x50,
  invalidDestinationNpi: 0x51,
  invalidSystemType: 0x53,
  throttled: 0x58,
  /** Temporary error of the receiver: the carrier sends the delivery again. */
  receiverTemporary: 0x64,
} as const;

const CLASSES: Readonly<Record<number, RefusalClass>> = {
  [STATUS.throttled]: 'throttled',
  [STATUS.queueFull]: 'throttled',
  [STATUS.systemError]: 'transient',
  [STATUS.receiverTemporary]: 'transient',
  [STATUS.invalidBindState]: 'rebind',
  [STATUS.invalidSource]: 'misconfigured',
  [STATUS.invalidServiceType]: 'misconfigured',
  [STATUS.invalidSourceTon]: 'misconfigured',
  [STATUS.invalidSourceNpi]: 'misconfigured',
  [STATUS.invalidDestinationTon]: 'misconfigured',
  [STATUS.invalidDestinationNpi]: 'misconfigured',
  [STATUS.invalidSystemType]: 'misconfigured',
};

/** Unknown statuses are permanent: another try would be refused like the first. */
export function refusalOf(status: number): Impossible {
  return { kind: 'refused', status: codeOf(status), class: CLASSES[status] ?? 'permanent' };
}

const WORDS: Readonly<Record<number, string>> = {
  [STATUS.invalidBindState]: 'not in this state',
  [STATUS.alreadyBound]: 'the carrier allows no more sessions (already bound)',
  [STATUS.bindFailed]: 'bind failed',
  [STATUS.invalidPassword]: 'wrong password',
  [STATUS.invalidSystemId]: 'unknown system_id',
};

/** Describes a status for operators. */
export function describeCommandStatus(status: number): string {
  const word = WORDS[status];
  return word === undefined ? codeOf(status) : `${codeOf(status)}, ${word}`;
}

function codeOf(status: number): string {
  return `0x${status.toString(16).padStart(8, '0')}`;
}
