/**
 * The traffic of the last minutes by ten seconds: asked of the edges when somebody watches, at most once for each step,
 * whoever watches the same. docs/decisions/0706
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '#db/open.ts';
import { readServing } from '#db/tables/edge-groups.ts';
import { listLiveEdges } from '#db/tables/edges.ts';
import type { Asks } from '#feed/publish/asks.ts';
import { addLiveSums, type LiveSums, NO_LIVE_SUMS, type RecentLive, readLiveAnswer } from '#logs/live-answer.ts';
import { RECENT_STEPS, STEP_MS } from '#logs/recent-counts.ts';
import { isServedBy } from '#model/edge-group.ts';

export interface LiveTrafficView {
  /** Sums of each step, the oldest first. */
  readonly list: readonly (LiveSums & { readonly at: number })[];
  /** End of the last step. */
  readonly until: number;
  /** Edges that did not answer in time. */
  readonly missing: readonly string[];
}

/** Domains of one question: it has to fit into a message between controls. */
const MAX_DOMAINS = 500;
/** Questions at once at a control; the feed's other questions need some, too. */
const MAX_ASKING = 50;
const ANSWER_MS = 1_500;
/** Time for an edge to read its journals after a step has ended. */
const SETTLE_MS = 3_000;
/** Answers that are remembered until their step is over. */
const MAX_KEPT = 1_000;

interface Kept {
  readonly last: number;
  readonly view: Promise<LiveTrafficView | undefined>;
}

export class LiveTraffic {
  readonly #db: Db;
  readonly #asks: Pick<Asks, 'ask'> | undefined;
  readonly #kept = new Map<string, Kept>();
  #asking = 0;

  constructor({ db, asks }: { readonly db: Db; readonly asks: Pick<Asks, 'ask'> | undefined }) {
    this.#db = db;
    this.#asks = asks;
  }

  /** `undefined`: there is nothing finer than the minutes of the statistics. */
  async get(domainIds: readonly number[], now: number): Promise<LiveTrafficView | undefined> {
    if (domainIds.length === 0 || domainIds.length > MAX_DOMAINS) return undefined;
    const last = Math.floor((now - SETTLE_MS) / STEP_MS) - 1;
    const key = domainIds.join();
    const kept = this.#kept.get(key);
    if (kept?.last === last) return await kept.view;
    for (const [other, one] of this.#kept) if (one.last !== last) this.#kept.delete(other);
    if (this.#asking >= MAX_ASKING || this.#kept.size >= MAX_KEPT) return undefined;
    this.#asking += 1;
    const view = this.#ask(domainIds, last, now).finally(() => {
      this.#asking -= 1;
    });
    this.#kept.set(key, { last, view });
    void view.catch(() => this.#kept.delete(key)); // callers receive the error
    return await view;
  }

  async #ask(domainIds: readonly number[], last: number, now: number): Promise<LiveTrafficView | undefined> {
    const { defaults, ofDomain } = await readServing(this.#db.query, domainIds);
    const serves = (group: string | undefined) => domainIds.some((id) => isServedBy({ defaults, ofDomain }, id, group));
    const awaited = new Set<string>();
    for (const { edge, group } of await listLiveEdges(this.#db.query, now)) if (serves(group)) awaited.add(edge);
    if (awaited.size === 0) return undefined;
    const answers: (RecentLive | undefined)[] = [];
    const { promise: all, resolve } = Promise.withResolvers<void>();
    const groups = [...new Set(domainIds.flatMap((id) => [...(ofDomain.get(id) ?? defaults)]))];
    const question = {
      content: { kind: 'live', domainIds, last },
      limitMs: ANSWER_MS,
      asked: { groups, isOne: false },
    };
    using open = this.#asks?.ask(question, ({ edge, content }) => {
      if (!awaited.delete(edge)) return;
      answers.push(readLiveAnswer(Object(content).live));
      if (awaited.size === 0) resolve();
    });
    if (open === undefined) return undefined;
    const late = new AbortController();
    await Promise.race([all, delay(ANSWER_MS, undefined, { signal: late.signal })]);
    late.abort();
    return viewOf(answers, [...awaited], last);
  }
}

function viewOf(
  answers: readonly (RecentLive | undefined)[],
  missing: readonly string[],
  last: number,
): LiveTrafficView | undefined {
  const known = answers.filter((answer) => answer !== undefined);
  if (known.length === 0 || known.length < answers.length) return undefined;
  const oldest = last - RECENT_STEPS + 1;
  const first = Math.max(oldest, ...known.map(({ since }) => since));
  if (first > last) return undefined;
  const steps = Array.from({ length: last - first + 1 }, (_, n) => first + n);
  const list = steps.map((step) => ({
    at: step * STEP_MS,
    ...known.reduce((sum, { sums }) => addLiveSums(sum, sums[step - oldest] ?? NO_LIVE_SUMS), NO_LIVE_SUMS),
  }));
  return { list, until: (last + 1) * STEP_MS, missing };
}
