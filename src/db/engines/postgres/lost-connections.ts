/**
 * Detects queries to PostgreSQL whose answer cannot arrive, or will not for long: the query or its connection was lost,
 * the server stands still or is no longer the primary, or a commit waits for a standby that is not there. The server is
 * asked over another connection while a query waits. docs/decisions/0332, 0611
 */
import type pg from 'pg';
import { steadyClock } from '#lib/clock.ts';
import type { DatabaseHosts } from './hosts.ts';
import { endProcesses, type Finding, type ServerView, viewServer, withServer } from './server-look.ts';

export class LostConnection extends Error {}

export interface LostConnectionOptions {
  readonly hosts: DatabaseHosts;
  /** Queries that wait for less than this are not checked. */
  readonly silentMs?: number;
  readonly lookEveryMs?: number;
  /** Limit for connecting, and for the answer, of a look. */
  readonly lookLimitMs?: number;
  /** Notified when queries wait for the server at this URL, and another host is the primary. */
  readonly onMoved?: (url: string) => void;
}

type Failure = Exclude<Finding, 'fine'>;

/**
 * Number of looks in a row with the same finding after which a query is given up. An answer in flight arrives between
 * two looks. With the intervals below a query waits for less than 10 s.
 */
const GIVEN_UP_AFTER: Readonly<Record<Failure, number>> = { lost: 2, unanswered: 2, unconfirmed: 3 };

const REASONS: Readonly<Record<Failure | 'moved', string>> = {
  lost: 'a connection to the database was lost without a word',
  unanswered: 'the database server does not answer',
  unconfirmed: 'no standby confirms a commit',
  moved: 'the database server is not the primary any more',
};

interface Waiting {
  /** Process id at the server, as the server reported it. */
  readonly pid: number;
  /** URL of the server. */
  readonly url: string | undefined;
  readonly since: number;
  /** Finding of the last look, and of how many in a row. */
  finding: Finding;
  looks: number;
  lose(reason: string): void;
}

const SILENT_MS = 2_000;
const LOOK_EVERY_MS = 1_500;
const LOOK_LIMIT_MS = 1_500;

export class LostConnections implements Disposable {
  readonly #hosts: DatabaseHosts;
  readonly #silentMs: number;
  readonly #limitMs: number;
  readonly #onMoved: (url: string) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #waiting = new Set<Waiting>();
  #isLooking = false;

  constructor({
    hosts,
    silentMs = SILENT_MS,
    lookEveryMs = LOOK_EVERY_MS,
    lookLimitMs = LOOK_LIMIT_MS,
    onMoved = () => undefined,
  }: LostConnectionOptions) {
    this.#hosts = hosts;
    this.#silentMs = silentMs;
    this.#limitMs = lookLimitMs;
    this.#onMoved = onMoved;
    this.#timer = setInterval(() => this.#lookAtSilent(), lookEveryMs).unref();
  }

  /**
   * Waits for an answer. Rejects with `LostConnection` if it cannot arrive any more, or not soon: the connection is then
   * unusable, and it is unknown whether the query took effect.
   */
  async during<T>(at: Pick<Waiting, 'pid' | 'url'>, answer: Promise<T>): Promise<T> {
    const lost = Promise.withResolvers<never>();
    const lose = (reason: string) => lost.reject(new LostConnection(reason));
    const one: Waiting = { ...at, since: steadyClock(), finding: 'fine', looks: 0, lose };
    this.#waiting.add(one);
    try {
      return await Promise.race([answer, lost.promise]);
    } finally {
      this.#waiting.delete(one);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #lookAtSilent(): void {
    const now = steadyClock();
    const silent = [...this.#waiting].filter((one) => now - one.since >= this.#silentMs);
    if (silent.length === 0 || this.#isLooking) return;
    this.#isLooking = true;
    void this.#look(this.#hosts.url, silent).finally(() => {
      this.#isLooking = false;
    });
  }

  /** Looks at the server that new connections are made to. Never rejects. */
  async #look(url: string, silent: readonly Waiting[]): Promise<void> {
    const here = silent.filter((one) => one.url === url);
    const view = await withServer(url, this.#limitMs, (client) => this.#judge(client, here));
    if (view === undefined) for (const one of here) this.#note(one, 'unanswered');
    // Another host may have become the primary; the next look asks it.
    if (view?.isPrimary !== true) return this.#hosts.pass(url);
    if (here.some(({ finding }) => finding === 'unconfirmed')) {
      // Its standby may have been promoted without it, as when only its Patroni was killed.
      const newer = await this.#findNewer(url, view.timeline);
      if (newer !== undefined) this.#hosts.use(newer);
    }
    this.#loseElsewhere(silent.filter((one) => one.url !== this.#hosts.url));
  }

  async #judge(client: pg.Client, here: readonly Waiting[]): Promise<ServerView> {
    const view = await viewServer(
      client,
      here.map(({ pid }) => pid),
    );
    if (!view.isPrimary) return view;
    const lost = here.filter((one) => this.#note(one, view.findings.get(one.pid) ?? view.others));
    // A commit that waits for a standby is done at this server, and only its confirmation is missing: it is left alone.
    await endProcesses(
      client,
      lost.map(({ pid }) => pid).filter((pid) => !view.commits.has(pid)),
    );
    return view;
  }

  /** Returns the URL of a primary that was promoted later. */
  async #findNewer(url: string, timeline: string): Promise<string | undefined> {
    const others = this.#hosts.urls.filter((other) => other !== url);
    const views = await Promise.all(
      others.map((other) => withServer(other, this.#limitMs, (its) => viewServer(its, []))),
    );
    return others.find((_, n) => views[n]?.isPrimary === true && views[n].timeline > timeline);
  }

  /** Records what a look found. Returns whether the query is given up. */
  #note(one: Waiting, finding: Finding): boolean {
    if (!this.#waiting.has(one)) return false;
    one.looks = one.finding === finding ? one.looks + 1 : 1;
    one.finding = finding;
    if (finding === 'fine' || one.looks < GIVEN_UP_AFTER[finding]) return false;
    one.lose(REASONS[finding]);
    return true;
  }

  #loseElsewhere(waiting: readonly Waiting[]): void {
    for (const one of waiting) one.lose(REASONS.moved);
    for (const url of new Set(waiting.map((one) => one.url))) if (url !== undefined) this.#onMoved(url);
  }
}
