/** Controls that share a database: how far their clocks may differ, and what must be the same at all of them. Pure. */

import type { ConnectorReport } from './sms-connector-report.ts';

/** What a control says of itself to the others. */
export interface ControlFacts {
  /** The release, such as `1.4.0`. */
  readonly build: string;
  /** Newest migration that it knows. */
  readonly schema: string;
  /** `local`, `shared`, or the address of the S3 storage. */
  readonly logStore: string;
  /** Check value of each key of its key ring, by key id. */
  readonly keys: Readonly<Record<string, string>>;
  /** Id of the key that seals. */
  readonly newestKey: string;
  readonly cnameSuffix: string;
  readonly timeZone: string;
  readonly domainStatusAs: string;
}

export interface SeenControl {
  readonly id: string;
  /** Instant by the database's clock. */
  readonly seenAt: number;
  readonly facts: ControlFacts;
  /** Ids of the SMS connectors that it can send by. */
  readonly connectorsUp: readonly number[];
  /** How its SMS connectors are. */
  readonly connectors: readonly ConnectorReport[];
}

/** A setting that keeps two controls from sharing a database. */
export interface Conflict {
  readonly setting: string;
  readonly problem: string;
}

/** A control is there when it was seen within this time. */
export const CONTROL_SEEN_MS = 15_000;

const CLOCK_WARN_MS = 1_000;
const CLOCK_LIMIT_MS = 5_000;

/** `off`: worth a warning. `wrong`: the control takes no work and is not ready. */
export type ClockVerdict = 'right' | 'off' | 'wrong';

/** `aheadMs`: the machine's clock less that of the database. */
export function judgeClock(aheadMs: number): ClockVerdict {
  const distance = Math.abs(aheadMs);
  if (distance > CLOCK_LIMIT_MS) return 'wrong';
  return distance > CLOCK_WARN_MS ? 'off' : 'right';
}

/** Whether another control has a newer database than this one knows. */
export function isOutdated(own: ControlFacts, other: ControlFacts): boolean {
  return other.schema > own.schema;
}

/** Returns why two controls cannot share a database; `undefined` if they can. */
export function findConflict(own: ControlFacts, other: ControlFacts): Conflict | undefined {
  if (!areNeighbours(own.build, other.build))
    return { setting: 'build', problem: `it is ${own.build}, and ${other.build} there: at most one release apart` };
  if (own.logStore === 'local' || other.logStore === 'local')
    return {
      setting: 'log-store',
      problem: 'log files and recordings lie on one machine: use S3, or set log-store-shared=true at all controls',
    };
  if (own.logStore !== other.logStore)
    return { setting: 'log-store', problem: `it is ${own.logStore}, and ${other.logStore} there` };
  if (!haveSameKeys(own, other))
    return { setting: 'keyring', problem: 'the key rings differ: copy the file of the control that ran first' };
  for (const [setting, key] of SAME)
    if (own[key] !== other[key]) return { setting, problem: `it is ${own[key]}, and ${other[key]} there` };
  return undefined;
}

const SAME = [
  ['cname-suffix', 'cnameSuffix'],
  ['time-zone', 'timeZone'],
  ['domain-status-as', 'domainStatusAs'],
] as const;

/** Each must be able to open what the other seals; a key of one id must be one key. */
function haveSameKeys(own: ControlFacts, other: ControlFacts): boolean {
  const common = Object.keys(own.keys).filter((id) => Object.hasOwn(other.keys, id));
  return (
    common.includes(own.newestKey) &&
    common.includes(other.newestKey) &&
    common.every((id) => own.keys[id] === other.keys[id])
  );
}

function areNeighbours(own: string, other: string): boolean {
  const [ownMajor = 0, ownMinor = 0] = own.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return ownMajor === otherMajor && Math.abs(ownMinor - otherMinor) <= 1;
}

/** Part of a limit that one of `controls` applies, at least 1. */
export function shareOfLimit(limit: number, controls: number): number {
  return Math.max(1, limit / controls);
}
