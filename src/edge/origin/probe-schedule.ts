/**
 * Decides which origins are probed when, and what their outcomes change. Pure: instants, random numbers and outcomes
 * are passed in. Edge rule 2
 */
import type { Destination } from './connector.ts';

/** Target of an origin's health checks: its address, or the request of its monitor URL there. */
export interface ProbeTarget {
  /**
   * `host:port`, followed by a blank and the monitor URL's identity if there is one. Sites with the same key share the
   * health.
   */
  readonly key: string;
  readonly destination: Destination;
  /** Request to send; if absent, a connection suffices. */
  readonly request?: { readonly host: string; readonly target: string };
}

/** Report of a worker about an origin that it asks or passes over. */
export interface OriginUse {
  readonly target: ProbeTarget;
  /** Whether requests failed there: the first successful probe is reported. */
  readonly isPassedOver: boolean;
}

export interface ProbeReport {
  /** Keys of all targets that are down. */
  readonly down: readonly string[];
  /** Addresses that were passed over and are reachable again. */
  readonly up: readonly string[];
}

/** `unclear` says nothing about the origin. `forbidden`: the guard does not permit a connection. */
export type ProbeOutcome = 'up' | 'down' | 'unclear' | 'forbidden';

/** A problem that probes have found with an origin. */
export interface OriginTrouble {
  /** Key of the probe target. */
  readonly key: string;
  readonly state: 'down' | 'forbidden';
}

export interface ProbeSchedule {
  readonly size: number;
  readonly downCount: number;
  note(use: OriginUse, now: number): void;
  /** Returns the probes that are due, the most overdue first. Each is in flight until `settle`. */
  take(now: number, max: number): readonly ProbeTarget[];
  /** Applies an outcome. Returns the origin's new state, or `undefined` if it has not changed. */
  settle(key: string, outcome: ProbeOutcome, now: number): 'down' | 'up' | 'forbidden' | undefined;
  /** Returns at most `max` troubles, of the most recently used origins first. */
  listTroubles(max: number): readonly OriginTrouble[];
  /** Returns a report, or `undefined` if nothing has changed since the last one or that was too recent. */
  takeReport(now: number): ProbeReport | undefined;
}

const CONNECT_EVERY_MS = 2_500;
const REQUEST_EVERY_MS = 10_000;
/** Random share of the interval, so that simultaneous probes drift apart. */
const JITTER = 0.2;
const FAILURES_UNTIL_DOWN = 3;
/** Time without a use after which an origin is no longer probed and its state is forgotten. */
const USED_MS = 300_000;
/** Limit of targets; the least recently used one makes room. */
const MAX_TARGETS = 10_000;
/** Minimum time between two reports: thousands of origins may change state, and each report names all that are down. */
const REPORT_EVERY_MS = 500;
/** Interval of reports without changes while an origin is down: a worker may be new or have missed the last report. */
const REPEAT_MS = 10_000;

interface Entry {
  readonly target: ProbeTarget;
  usedAt: number;
  dueAt: number;
  isUnderWay: boolean;
  isPassedOver: boolean;
  isForbidden: boolean;
  failures: number;
}

export function createProbeSchedule(random: () => number): ProbeSchedule {
  // In order of use, the most recent last.
  const entries = new Map<string, Entry>();
  const up = new Set<string>();
  let downCount = 0;
  let hasNews = false;
  let reportedAt = Number.NEGATIVE_INFINITY;

  /** Returns whether the entry has become down or up. */
  const setFailures = (entry: Entry, failures: number): boolean => {
    const wasDown = isDown(entry);
    entry.failures = failures;
    if (isDown(entry) === wasDown) return false;
    downCount += wasDown ? -1 : 1;
    hasNews = true;
    return true;
  };
  const forgetUnused = (now: number) => {
    for (const entry of entries.values()) {
      if (now - entry.usedAt < USED_MS && entries.size <= MAX_TARGETS) return;
      setFailures(entry, 0);
      entries.delete(entry.target.key);
    }
  };

  return {
    get size() {
      return entries.size;
    },
    get downCount() {
      return downCount;
    },
    note: ({ target, isPassedOver }, now) => {
      const entry = entries.get(target.key) ?? newEntry(target, now + random() * intervalOf(target));
      entry.usedAt = now;
      if (isPassedOver && !entry.isPassedOver) entry.dueAt = now;
      // Kept until a success is reported: another worker may not have failed there.
      entry.isPassedOver ||= isPassedOver;
      entries.delete(target.key);
      entries.set(target.key, entry);
      forgetUnused(now);
    },
    take: (now, max) => {
      forgetUnused(now);
      const due = dueAmong(entries.values(), now).slice(0, max);
      for (const entry of due) entry.isUnderWay = true;
      return due.map(({ target }) => target);
    },
    settle: (key, outcome, now) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entry.isUnderWay = false;
      entry.dueAt = now + intervalOf(entry.target) * (1 + JITTER * (random() - 0.5));
      if (outcome === 'unclear') return undefined;
      const wasForbidden = entry.isForbidden;
      entry.isForbidden = outcome === 'forbidden';
      if (outcome === 'up' && entry.isPassedOver) {
        entry.isPassedOver = false;
        up.add(addressOf(key));
        hasNews = true;
      }
      const hasChanged = setFailures(entry, outcome === 'down' ? entry.failures + 1 : 0);
      return (outcome === 'forbidden' ? !wasForbidden : hasChanged) ? outcome : undefined;
    },
    listTroubles: (max) => troublesOf([...entries.values()].toReversed(), max),
    takeReport: (now) => {
      if (now - reportedAt < REPORT_EVERY_MS) return undefined;
      const isRepeat = downCount > 0 && now - reportedAt >= REPEAT_MS;
      if (!hasNews && !isRepeat) return undefined;
      const report = { down: [...entries.values()].filter(isDown).map(({ target }) => target.key), up: [...up] };
      up.clear();
      hasNews = false;
      reportedAt = now;
      return report;
    },
  };
}

function newEntry(target: ProbeTarget, dueAt: number): Entry {
  return { target, usedAt: 0, dueAt, isUnderWay: false, isPassedOver: false, isForbidden: false, failures: 0 };
}

/** Returns entries that are due, the most overdue first. */
function dueAmong(entries: Iterable<Entry>, now: number): Entry[] {
  const due = [...entries].filter(({ dueAt, isUnderWay }) => dueAt <= now && !isUnderWay);
  return due.sort((a, b) => a.dueAt - b.dueAt);
}

function troublesOf(entries: readonly Entry[], max: number): readonly OriginTrouble[] {
  const troubles = entries.flatMap((entry): readonly OriginTrouble[] => {
    const { key } = entry.target;
    if (entry.isForbidden) return [{ key, state: 'forbidden' }];
    return isDown(entry) ? [{ key, state: 'down' }] : [];
  });
  return troubles.slice(0, max);
}

function intervalOf({ request }: ProbeTarget): number {
  return request === undefined ? CONNECT_EVERY_MS : REQUEST_EVERY_MS;
}

function isDown(entry: Entry): boolean {
  return entry.failures >= FAILURES_UNTIL_DOWN;
}

function addressOf(key: string): string {
  return key.split(' ')[0] ?? key;
}
