/**
 * All streams of hints of this control: one reader of what happens serves them all, and reads nothing while nobody
 * watches. docs/decisions/0671
 */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import { listEdgeProgress } from '#db/tables/edge-progress.ts';
import { findHead, listHappenings } from '#db/tables/happenings.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { type Rounds, startRounds } from '#lib/rounds.ts';
import { type Happening, type Hint, type HintPosition, hintsOf, messagesHint, type Watcher } from '#model/hint.ts';
import { PropagationWatch } from '#model/propagation-watch.ts';
import { HappeningTail } from './happening-tail.ts';
import { MessageWatch } from './message-watch.ts';
import { type WatchEnd, WatchStream } from './watch-stream.ts';

/** Streams of one token, and of all, at this control. */
const MAX_OF_WATCHER = 4;
const MAX_IN_ALL = 2_000;
/** Changes of the time before a stream that it gets hints of; more are a gap. */
const MAX_REPLAYED = 1_000;
/** Interval of looking, for changes that wake nobody, and for reports of edges. */
const LOOK_MS = 200;
const TICK_MS = 1_000;
/** Kinds of things whose change may end streams. */
const RIGHTS: ReadonlySet<string> = new Set(['account', 'token', 'person', 'session', 'member']);

export interface WatchesOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly monotonic: () => number;
  readonly log: Logger;
}

export interface NewWatch {
  /** Streams of the same name share a limit. */
  readonly name: string;
  readonly watcher: Watcher;
  /** Where the stream before ended. */
  readonly after: HintPosition | undefined;
  /** `data` of the first event. */
  readonly ready: object;
  readonly whyEnded: () => Promise<string | undefined>;
}

export class Watches implements AsyncDisposable {
  readonly #options: WatchesOptions;
  readonly #streams = new Map<WatchStream, string>();
  readonly #propagation = new PropagationWatch();
  readonly #messages = new MessageWatch();
  #tail: Promise<HappeningTail> | undefined;
  #position: HintPosition = { audit: 0, event: 0 };
  #rounds: Rounds | undefined;
  #unsubscribe: (() => void) | undefined;
  #ticking: NodeJS.Timeout | undefined;
  readonly counts = { hints: 0, gaps: 0, ended: { bye: 0, gone: 0, stalled: 0 } satisfies Record<WatchEnd, number> };

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Opens a stream, or returns why not. What happens from now on is in it, and what happened since `after`. */
  async open({ name, watcher, after, ready, whyEnded }: NewWatch): Promise<WatchStream | ServiceError> {
    const ofWatcher = [...this.#streams.values()].filter((other) => other === name).length;
    if (ofWatcher >= MAX_OF_WATCHER || this.#streams.size >= MAX_IN_ALL)
      return new ServiceError('watchesFull', { limit: MAX_OF_WATCHER });
    const stream: WatchStream = new WatchStream({
      watcher,
      whyEnded,
      monotonic: this.#options.monotonic,
      position: () => this.#position,
      onEnd: (why) => this.#close(stream, why),
    });
    this.#streams.set(stream, name);
    stream.say('ready', ready);
    try {
      await this.#begin();
      const followed = followedIn(watcher);
      if (followed !== undefined) await this.#messages.follow(this.#options.db.query, followed, this.#options.clock());
      if (after !== undefined) await this.#replay(stream, after);
      return stream;
    } catch (error) {
      stream.body.destroy();
      throw error;
    }
  }

  /** Ends all streams because control stops. */
  end(): void {
    for (const stream of [...this.#streams.keys()]) stream.end('stopping');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    await this.#stop();
  }

  #close(stream: WatchStream, why: WatchEnd): void {
    this.#streams.delete(stream);
    this.counts.ended[why] += 1;
    if (this.#streams.size === 0) void this.#stop(); // never rejects
  }

  /** Resolves when what happens is seen. */
  async #begin(): Promise<void> {
    const { db, log } = this.#options;
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS).unref();
    this.#tail ??= this.#beginTail();
    this.#position = (await this.#tail).position;
    if (this.#rounds !== undefined || this.#streams.size === 0) return; // all may have gone meanwhile
    this.#rounds = startRounds({
      everyMs: LOOK_MS,
      work: () => this.#look(),
      onFailure: (error, isRepeated) => {
        if (!isRepeated) log.error({ err: error }, 'cannot read what changes; retrying');
      },
    });
    this.#unsubscribe = db.onPublish(this.#rounds.wake);
  }

  #beginTail(): Promise<HappeningTail> {
    const { db, clock } = this.#options;
    const tail = HappeningTail.begin(db.query, clock());
    tail.catch(() => {
      if (this.#tail === tail) this.#tail = undefined; // the next stream tries again
    });
    return tail;
  }

  async #stop(): Promise<void> {
    clearInterval(this.#ticking);
    this.#unsubscribe?.();
    const rounds = this.#rounds;
    this.#ticking = undefined;
    this.#unsubscribe = undefined;
    this.#rounds = undefined;
    this.#tail = undefined;
    await rounds?.[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    const tail = await this.#tail;
    if (tail === undefined) return;
    const { db, clock } = this.#options;
    const now = clock();
    const happened = await tail.read(db.query, now);
    this.#position = tail.position;
    for (const one of happened) this.#propagation.follow(one, now);
    this.#send(happened.flatMap(hintsOf));
    this.#askAgain(happened);
    await this.#lookAtMessages(now);
    if (!this.#propagation.isEmpty) this.#send(this.#propagation.look(await listEdgeProgress(db.query, now), now));
  }

  async #lookAtMessages(now: number): Promise<void> {
    const accounts = [...this.#streams.keys()].flatMap(({ watcher }) => followedIn(watcher) ?? []);
    this.#send(await this.#messages.look(this.#options.db.query, new Set(accounts), now));
  }

  #send(hints: readonly Hint[]): void {
    for (const hint of hints) for (const stream of this.#streams.keys()) if (stream.offer(hint)) this.counts.hints += 1;
  }

  /** A change of tokens or of the account may end streams: no need to wait for their next question. */
  #askAgain(happened: readonly Happening[]): void {
    const accounts = new Set<number | undefined>();
    for (const { from, target, accountId } of happened)
      if (from === 'audit' && RIGHTS.has(target.kind)) accounts.add(accountId);
    // What an operator changes may not say whose it is.
    const mayBeAny = accounts.has(undefined);
    for (const stream of accounts.size === 0 ? [] : this.#streams.keys()) {
      const { accountId } = stream.watcher;
      if (mayBeAny || accountId === undefined || accounts.has(accountId)) void stream.askAgain(); // never rejects
    }
  }

  async #replay(stream: WatchStream, after: HintPosition): Promise<void> {
    const x = this.#options.db.query;
    const { accountId } = stream.watcher;
    const head = await findHead(x);
    const limit = MAX_REPLAYED + 1;
    const changes = await listHappenings(x, 'audit', { after: after.audit, limit, accountId });
    const news = await listHappenings(x, 'event', { after: after.event, limit, accountId });
    const isOfOther = after.audit > head.audit || after.event > head.event;
    if (isOfOther || changes.length + news.length > MAX_REPLAYED) {
      this.counts.gaps += 1;
      return stream.say('gap', {});
    }
    const followed = followedIn(stream.watcher);
    // No position says what has become of messages since.
    const messages = followed === undefined ? [] : [messagesHint(followed, this.#options.clock())];
    this.counts.hints += stream.replay([...[...changes, ...news].flatMap(hintsOf), ...messages]);
  }

  #tick(): void {
    for (const stream of [...this.#streams.keys()]) void stream.tick(); // never rejects
  }
}

/** Account whose messages the watcher follows; `undefined`: it follows none. */
function followedIn({ accountId, domainIds, kinds }: Watcher): number | undefined {
  return domainIds === undefined && kinds.includes('message') ? accountId : undefined;
}
