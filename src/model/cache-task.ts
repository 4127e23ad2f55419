/**
 * An order to edges about cached objects, purge or prefetch, and how far it has come: derived from what the edges report,
 * each time it is asked for. Pure.
 */

import type { EdgeReport, KnownEdge } from './edge.ts';
import { isServedBy, type Serving } from './edge-group.ts';
import { holdingEdges } from './edge-state.ts';

export interface CacheTask {
  readonly id: number;
  readonly accountId: number;
  readonly kind: 'purge' | 'prefetch';
  readonly createdAt: number;
  /** Revision of the feed with which the task reached the edges. */
  readonly revision: number;
  readonly items: readonly CacheItem[];
}

export interface CacheItem {
  readonly kind: 'url' | 'directory' | 'domain';
  /** Text as the customer wrote it; the name if the item is a domain. */
  readonly asked: string;
  /** Id of its domain; absent in tasks of an earlier release. */
  readonly domainId?: number;
}

/** What makes a task's `n`-th resource unlike every other, ever. */
export function resourceId(taskId: number, n: number): string {
  return `${taskId}-${n}`;
}

/** Whether the key of a purge is one of this task. */
function isOfTask(key: string, taskId: number): boolean {
  return key.includes(`:${taskId}-`);
}

/** What an edge has reported of one item of a prefetch. */
export interface PrefetchResult {
  readonly n: number;
  readonly edge: string;
  /** Absent: the object is stored there. */
  readonly failure: string | undefined;
}

type ProgressState = 'waiting' | 'done' | 'failed';

interface EdgeProgress {
  readonly edge: string;
  readonly state: ProgressState;
  /** Why it failed, or that it waits because the edge is away; else empty. */
  readonly detail: string;
}

interface ItemProgress extends CacheItem {
  readonly state: ProgressState;
  /** Edges in each state. */
  readonly counts: Readonly<Record<ProgressState, number>>;
  /** The first `MAX_FAILURES` of them. */
  readonly failures: readonly { readonly edge: string; readonly reason: string }[];
}

export interface TaskProgress {
  /** `failed`: every live edge has reported, and something could not be done. */
  readonly state: 'running' | 'done' | 'failed';
  readonly edges: readonly EdgeProgress[];
  readonly items: readonly ItemProgress[];
}

/** An edge that was silent for longer is no longer shown. */
export const EDGE_KNOWN_MS = 24 * 3600 * 1000;
/** Time for which edges are asked to prefetch; an item without a result by then has failed. */
export const PREFETCH_KEEP_MS = 24 * 3600 * 1000;

const MAX_FAILURES = 20;
const EXPIRED = 'expired';
const AWAY = 'away';

/**
 * `edges`: those that reported within `EDGE_KNOWN_MS`. Each item waits for the edges that its domain's changes wait for
 * (`holdingEdges`); an edge whose group does not serve an item's domain is left out of that item.
 */
export function progressOf(
  task: CacheTask,
  { edges: all, serving }: { readonly edges: readonly KnownEdge[]; readonly serving: Serving },
  results: readonly PrefetchResult[],
  now: number,
): TaskProgress {
  const isFor = ({ domainId }: CacheItem, group: string | undefined) =>
    domainId === undefined || isServedBy(serving, domainId, group);
  const edges = all.filter(({ group }) => task.items.some((item) => isFor(item, group)));
  const isOver = task.kind === 'prefetch' && now - task.createdAt >= PREFETCH_KEEP_MS;
  const awaited = task.items.map((item) => {
    const holding = holdingEdges(edges.filter(({ group }) => isFor(item, group)));
    return new Set(holding.map(({ edge }) => edge));
  });
  const rowOf = (edge: string, group: string | undefined, outcomeOf: (n: number) => Outcome): Row => ({
    edge,
    cells: task.items.map((item, n) =>
      isFor(item, group) ? { ...outcomeOf(n), counts: isOver || awaited[n]?.has(edge) === true } : undefined,
    ),
  });
  if (task.kind === 'purge') {
    const rows = edges.map((edge) => {
      const outcome = purgeOutcome(task, edge);
      return rowOf(edge.edge, edge.group, () => outcome);
    });
    return assemble(task, rows, 'waiting');
  }
  const known = new Map(results.map((result) => [`${result.n} ${result.edge}`, result]));
  const groups = new Map(all.map(({ edge, group }) => [edge, group]));
  // Afterwards only those that took part are spoken of, wherever they are now.
  const taking = new Set((isOver ? results : edges).map(({ edge }) => edge));
  const rows = [...taking]
    .sort()
    .map((edge) => rowOf(edge, groups.get(edge), (n) => prefetchOutcome(known.get(`${n} ${edge}`), isOver)));
  return assemble(task, rows, isOver ? 'failed' : 'waiting');
}

/** Prefetched items at edges: one that is stored, or failed, at two edges counts twice. */
export interface PrefetchCounts {
  readonly done: number;
  readonly failed: number;
}

export interface TaskSummary extends PrefetchCounts {
  readonly state: TaskProgress['state'];
  readonly waiting: number;
}

/** The numbers of `progressOf`; results of a prefetch are only counted. */
export function summaryOf(
  task: CacheTask,
  known: { readonly edges: readonly KnownEdge[]; readonly serving: Serving },
  counted: PrefetchCounts,
  now: number,
): TaskSummary {
  const { state, items } = progressOf(task, known, [], now);
  const sum = (name: ProgressState) => items.reduce((all, { counts }) => all + counts[name], 0);
  if (task.kind === 'purge') return { state, waiting: sum('waiting'), done: sum('done'), failed: sum('failed') };
  const { done, failed } = counted;
  const waiting = Math.max(0, sum('waiting') - done - failed);
  if (waiting > 0) return { state: 'running', waiting, done, failed };
  const isOver = now - task.createdAt >= PREFETCH_KEEP_MS;
  const hasFailed = failed > 0 || (isOver && done === 0);
  return { state: hasFailed ? 'failed' : done > 0 ? 'done' : 'running', waiting, done, failed };
}

/** What one edge has made of one item. */
interface Outcome {
  readonly state: ProgressState;
  /** Why it failed; else empty. */
  readonly reason: string;
}

/** An item at an edge. */
interface Cell extends Outcome {
  /** Whether the item waits for the edge. */
  readonly counts: boolean;
}

interface Row {
  readonly edge: string;
  /** One per item; `undefined`: the edge does not serve the item's domain. */
  readonly cells: readonly (Cell | undefined)[];
}

const WAITING: Outcome = { state: 'waiting', reason: '' };
const DONE: Outcome = { state: 'done', reason: '' };

function purgeOutcome({ id, revision }: CacheTask, { appliedRevision, rejected }: EdgeReport): Outcome {
  const refusal = rejected.find(({ kind, key }) => kind === 'purge' && isOfTask(key, id));
  if (refusal !== undefined) return { state: 'failed', reason: refusal.error };
  return appliedRevision >= revision ? DONE : WAITING;
}

function prefetchOutcome(result: PrefetchResult | undefined, isOver: boolean): Outcome {
  if (result === undefined) return isOver ? { state: 'failed', reason: EXPIRED } : WAITING;
  return result.failure === undefined ? DONE : { state: 'failed', reason: result.failure };
}

/** `alone`: state of an item that no edge has to do. */
function assemble({ items }: CacheTask, rows: readonly Row[], alone: ProgressState): TaskProgress {
  const progress = items.map((item, n) => toItemProgress(item, n, rows, alone));
  const state = joined(progress, alone);
  return { state: state === 'waiting' ? 'running' : state, edges: rows.map(toEdgeProgress), items: progress };
}

function toEdgeProgress({ edge, cells }: Row): EdgeProgress {
  const own = cells.filter((cell) => cell !== undefined);
  const state = joined(own, 'waiting');
  const reason = own.find((cell) => cell.state === 'failed')?.reason ?? '';
  const isAway = own.every(({ counts }) => !counts);
  return { edge, state, detail: state === 'waiting' && isAway ? AWAY : reason };
}

function toItemProgress(item: CacheItem, n: number, rows: readonly Row[], alone: ProgressState): ItemProgress {
  const cells = rows.flatMap(({ edge, cells: own }) => {
    const cell = own[n];
    return cell === undefined ? [] : [{ edge, ...cell }];
  });
  const count = (wanted: ProgressState) => cells.filter(({ state }) => state === wanted).length;
  const failures = cells.filter(({ state }) => state === 'failed').slice(0, MAX_FAILURES);
  return {
    ...item,
    state: joined(
      cells.filter(({ counts }) => counts),
      alone,
    ),
    counts: { waiting: count('waiting'), done: count('done'), failed: count('failed') },
    failures: failures.map(({ edge, reason }) => ({ edge, reason })),
  };
}

/** Joins the states of all edges or items. `alone`: state of an empty list. */
function joined(outcomes: readonly { readonly state: ProgressState }[], alone: ProgressState): ProgressState {
  if (outcomes.length === 0) return alone;
  if (outcomes.some(({ state }) => state === 'waiting')) return 'waiting';
  return outcomes.some(({ state }) => state === 'failed') ? 'failed' : 'done';
}
