/**
 * Conditions that last: when one begins and ends, events are told. One that comes and goes is told once, since it must
 * last before it counts, and be gone for longer before it ends. Pure. docs/decisions/0620
 */
import type { EventData, EventKind, EventTarget, NewServiceEvent } from './event.ts';

interface ConditionRule {
  readonly raised: EventKind;
  /** Absent: its end is no event. */
  readonly cleared?: EventKind;
  /** How long it must last before it counts. */
  readonly raiseMs: number;
  /** How long it must be gone before it ends. */
  readonly clearMs: number;
}

export const CONDITIONS = {
  origin: { raised: 'origin.down', cleared: 'origin.up', raiseMs: 10_000, clearMs: 60_000 },
  sink: { raised: 'sink.failing', cleared: 'sink.taking', raiseMs: 30_000, clearMs: 60_000 },
  rejection: { raised: 'edge.rejecting', cleared: 'edge.applying', raiseMs: 30_000, clearMs: 10_000 },
  certificate: { raised: 'certificate.expiring', raiseMs: 0, clearMs: 0 },
  expired: { raised: 'certificate.expired', raiseMs: 0, clearMs: 0 },
  order: { raised: 'certificate.failing', cleared: 'certificate.recovered', raiseMs: 60_000, clearMs: 30_000 },
  connector: { raised: 'connector.unbound', cleared: 'connector.bound', raiseMs: 30_000, clearMs: 10_000 },
  misconfigured: { raised: 'connector.misconfigured', cleared: 'connector.accepting', raiseMs: 0, clearMs: 60_000 },
  quota: { raised: 'quota.near', raiseMs: 0, clearMs: 0 },
  disk: { raised: 'disk.nearFull', cleared: 'disk.roomy', raiseMs: 30_000, clearMs: 300_000 },
  backup: { raised: 'backup.late', cleared: 'backup.made', raiseMs: 0, clearMs: 0 },
} as const satisfies Readonly<Record<string, ConditionRule>>;
export type ConditionKind = keyof typeof CONDITIONS;

/** A condition that holds now. */
export interface Observation {
  readonly kind: ConditionKind;
  /** Unique among those of its kind and owner. */
  readonly key: string;
  readonly accountId?: number | undefined;
  readonly target: EventTarget;
  /** A higher level than the one before is another event. */
  readonly level: number;
  readonly data: EventData;
}

/** A condition as it is stored. */
export interface Condition extends Observation {
  /** When it was observed first. */
  readonly since: number;
  /** Whether its beginning was told. */
  readonly isRaised: boolean;
  /** Instant since which it is not observed; `undefined` while it is. */
  readonly absentSince: number | undefined;
}

export interface Judgement {
  /** Conditions that are new or have changed. */
  readonly save: readonly Condition[];
  /** Conditions that have ended. */
  readonly ended: readonly Condition[];
  readonly events: readonly NewServiceEvent[];
}

/** Conditions of one kind and account that are told; more of them are left out, so that nobody floods the others. */
const MAX_PER_ACCOUNT = 500;

/** Compares what is observed with what is stored. `rules`: those of the service, unless a test has its own. */
export function judgeConditions(
  stored: readonly Condition[],
  observed: readonly Observation[],
  now: number,
  rules: Readonly<Record<ConditionKind, ConditionRule>> = CONDITIONS,
): Judgement {
  const known = new Map(stored.map((condition) => [nameOf(condition), condition]));
  const present = new Map(bounded(observed).map((observation) => [nameOf(observation), observation]));
  const save: Condition[] = [];
  const ended: Condition[] = [];
  const events: NewServiceEvent[] = [];
  const tell = (kind: EventKind | undefined, { accountId, target, data }: Observation) => {
    if (kind !== undefined) events.push({ at: now, kind, accountId, target, actor: 'control', data });
  };
  for (const [name, observation] of present) {
    const before = known.get(name);
    const rule = rules[observation.kind];
    const since = before?.since ?? now;
    const isRaised = before?.isRaised === true || elapsed(since, now) >= rule.raiseMs;
    const isWorse = before !== undefined && observation.level > before.level;
    if (isRaised && (before?.isRaised !== true || isWorse)) tell(rule.raised, observation);
    const level = Math.max(observation.level, before?.level ?? observation.level);
    if (before === undefined || isRaised !== before.isRaised || isWorse || before.absentSince !== undefined)
      save.push({ ...observation, level, since, isRaised, absentSince: undefined });
  }
  for (const [name, condition] of known) {
    if (present.has(name)) continue;
    const rule = rules[condition.kind];
    const absentSince = condition.absentSince ?? now;
    if (condition.isRaised && elapsed(absentSince, now) < rule.clearMs) {
      if (condition.absentSince === undefined) save.push({ ...condition, absentSince });
      continue;
    }
    ended.push(condition);
    if (condition.isRaised) tell(rule.cleared, condition);
  }
  return { save, ended, events };
}

/** A clock that was set back ends a wait: it would last for as long as it was ahead. */
function elapsed(since: number, now: number): number {
  return now < since ? Number.POSITIVE_INFINITY : now - since;
}

function nameOf({ kind, key }: Pick<Observation, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}

function bounded(observed: readonly Observation[]): readonly Observation[] {
  const groups = Map.groupBy(observed, ({ kind, accountId }) => `${kind} ${accountId ?? ''}`);
  return [...groups.values()].flatMap((group) => group.slice(0, MAX_PER_ACCOUNT));
}
