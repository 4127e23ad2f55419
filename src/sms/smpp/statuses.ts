/** Classifies a carrier's command_status. docs/decisions/0204 */
import type { RefusalClass } from '../carrier.ts';

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
};

/** Unknown statuses are permanent: another try would be refused like the first. */
export function refusalClassOf(status: number): RefusalClass {
  return CLASSES[status] ?? 'permanent';
}
