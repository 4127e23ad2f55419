/** Logs one line about all code that uses undocumented internals of Node. docs/decisions/0524 */
import type { Logger } from '../logger.ts';
import { canWriteDirectly } from './direct-write.ts';
import { canGiveAway } from './http-reader.ts';
import { canShareReading } from './shared-reading.ts';
import { canCountUnsent } from './unsent-bytes.ts';

const PARTS = {
  sharedReading: canShareReading,
  directWrite: canWriteDirectly,
  unsentBytes: canCountUnsent,
  httpReader: canGiveAway,
};

/** Logs for each part whether it is on or off; a warning if one is off, as after an update of Node. */
export function reportNodeInternals(
  log: Pick<Logger, 'info' | 'warn'>,
  parts: Record<string, () => boolean> = PARTS,
): void {
  const states = Object.entries(parts).map(([name, canUse]) => [name, canUse() ? 'on' : 'off'] as const);
  const isWhole = states.every(([, state]) => state === 'on');
  log[isWhole ? 'info' : 'warn'](Object.fromEntries(states), 'internals of Node in use');
}
