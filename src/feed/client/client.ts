/**
 * The edge's side of the feed, one per machine: follows the stream, keeps the last good set in the store, and
 * acknowledges the revision that every worker runs. Without control it keeps retrying while the store serves.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { type Clock, steadyClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { EdgeVitals, OriginTrouble, Rejection } from '#model/edge.ts';
import { clockOffsetMs } from '#model/edge-health.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import type { PrefetchOutcome, PrefetchRequest } from '#sites/prefetch.ts';
import type { PrefetchResultEntry } from '../store/edge-prefetches.ts';
import type { EdgeStore } from '../store/edge-store.ts';
import { type AskTaker, parseAsk } from '../wire/ask-messages.ts';
import { parseDelta, parseSpread } from '../wire/messages.ts';
import { formatPositionQuery } from '../wire/position-query.ts';
import {
  type Delta,
  FLEET_KIND,
  MAX_ORIGIN_TROUBLES,
  PREFETCH_PATH,
  REMOTE_STATUS_MS,
  SILENCE_MS,
  STATUS_MS,
  STATUS_PATH,
  STREAM_PATH,
} from '../wire/protocol.ts';
import { readEvents, type SseItem } from '../wire/sse.ts';
import { changedSites } from './changed-sites.ts';
import { createConfirmations, type StoredChange } from './confirmations.ts';
import { ConnectionState } from './connection-state.ts';
import type { ControlLink } from './control-link.ts';
import { createDeparture } from './departure.ts';
import { createEdgeViewKeys, type EdgeViewKeys } from './edge-view-keys.ts';
import { FeedRefusal, requestFeed } from './feed-request.ts';
import { postMessage } from './post-message.ts';
import { toPrefetchReport } from './prefetch-report.ts';
import { createPrefetches, type Prefetches } from './prefetches.ts';
import { Failures, feedDelayMs, type Outage, REFUSED, Reopening } from './reconnect.ts';
import { takeSnapshot } from './snapshot-reader.ts';
import { describeStatus, type EdgeIdentity } from './status.ts';
import { createStatusReporter, type StatusReporter } from './status-reporter.ts';
import { createAcceptor } from './withheld.ts';

/** Inapplicable resources that are logged per snapshot or delta; the count covers all of them. */
const MAX_TOLD = 10;
/** Interval at which the store's file is checked, besides before each change and report. */
const LOOK_MS = 1000;
/** Shortest time between two reports of an edge on another machine. */
const REMOTE_INTERVAL_MS = 100;
/** Limit of a delta, far above those that control sends. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

export interface FeedClientOptions {
  readonly link: ControlLink;
  readonly edgeId: string;
  /** The release, for the report. */
  readonly build: string;
  readonly store: EdgeStore;
  /** Where a snapshot from another machine is collected before it is applied. */
  readonly snapshotFile: string;
  /**
   * Called when a change is in the store. Resolves when every worker of the machine runs it; rejects to be called
   * again. `names`: sites that changed; absent: any may have. Calls do not overlap.
   */
  readonly confirm: (change: StoredChange) => Promise<void>;
  /** Asks a worker to prefetch; `undefined` if none can now, and it is retried. Never rejects. */
  readonly prefetch: (request: PrefetchRequest) => Promise<PrefetchOutcome | undefined>;
  /** Lists origins with troubles that probes found, at most `max`. */
  readonly listOriginTroubles: (max: number) => readonly OriginTrouble[];
  /** Describes the edge's own health. */
  readonly describeVitals: () => EdgeVitals;
  /** Takes questions of control; absent: nobody answers any. */
  readonly asks?: AskTaker;
  /** Called with how far this machine's clock is ahead of control's, after each report. */
  readonly onClockOffset: (offsetMs: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface FeedClient extends AsyncDisposable {
  readonly isConnected: boolean;
  /** Resolves when control was connected to, or could not be, for the first time since the start. */
  readonly tried: Promise<void>;
  /** Revision that every worker runs; absent until one was confirmed since the start. */
  readonly appliedRevision: number | undefined;
  /** Connections that were lost or refused since the start. */
  readonly reconnects: number;
  /** Sends a report now, unless no settings have been applied yet. */
  reportSoon(): void;
}

export function startFeedClient(options: FeedClientOptions): FeedClient {
  return new RunningFeedClient(options);
}

class RunningFeedClient implements FeedClient {
  readonly #options: FeedClientOptions;
  readonly #stop = new AbortController();
  readonly #confirmations;
  readonly #prefetches: Prefetches;
  readonly #reporter: StatusReporter;
  readonly #viewKeys: EdgeViewKeys;
  readonly #connection: ConnectionState;
  readonly #running: Promise<unknown>;
  readonly #reporting: NodeJS.Timeout;
  readonly #looking: NodeJS.Timeout;
  /** Aborts the open connection. */
  #attempt = new AbortController();
  #applied: FeedPosition | undefined;
  readonly #failures = new Failures();
  /** Time over which the edges of this control spread their reconnects when it ends, as last announced. */
  #spreadMs = 0;
  #serial: string | undefined;
  #isLookFailing = false;
  #isSnapshotDue = false; // also if the store has a position

  constructor(options: FeedClientOptions) {
    const { store, confirm, prefetch, log, link } = options;
    this.#options = options;
    this.#prefetches = createPrefetches({
      entries: store.prefetches,
      prefetch,
      report: (results) => this.#reportPrefetches(results),
      log,
    });
    this.#viewKeys = createEdgeViewKeys(link);
    this.#connection = new ConnectionState(log);
    this.#reporter = this.#createReporter();
    this.#confirmations = createConfirmations({
      confirm,
      log,
      onConfirmed: (head) => {
        this.#setApplied(head);
        this.#reporter.reportSoon();
        this.#prefetches.advance(head.revision);
      },
    });
    this.#confirmStored();
    link.announce(store.announcedControls());
    const periodMs = link.isRemote ? REMOTE_STATUS_MS : STATUS_MS;
    this.#reporting = setInterval(() => {
      this.#reporter.refresh(periodMs / 2);
      this.#retry();
    }, periodMs);
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
    this.#running = this.#run();
  }

  #createReporter(): StatusReporter {
    const { store, edgeId, build, clock, log, link, listOriginTroubles, describeVitals, onClockOffset } = this.#options;
    const identity: EdgeIdentity = { edge: edgeId, build, startedAt: clock() };
    return createStatusReporter({
      send: async (status) => {
        const sentAt = clock();
        const { date } = await this.#post(STATUS_PATH, status);
        const offsetMs = clockOffsetMs(date, { sentAt, receivedAt: clock() });
        if (offsetMs !== undefined) onClockOffset(offsetMs);
      },
      describe: (at) => {
        const origins = listOriginTroubles(MAX_ORIGIN_TROUBLES);
        return describeStatus(store, identity, { at, origins, vitals: describeVitals() });
      },
      repair: () => this.#repair(),
      intervalMs: link.isRemote ? REMOTE_INTERVAL_MS : 0,
      isConnected: () => this.isConnected,
      log,
    });
  }

  get isConnected(): boolean {
    return this.#connection.isConnected;
  }

  get tried(): Promise<void> {
    return this.#connection.tried;
  }

  get appliedRevision(): number | undefined {
    return this.#applied?.revision;
  }

  get reconnects(): number {
    return this.#connection.ends;
  }

  reportSoon(): void {
    this.#reporter.reportSoon();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#reporting);
    clearInterval(this.#looking);
    this.#stop.abort();
    this.#attempt.abort();
    await this.#running;
    await this.#prefetches[Symbol.asyncDispose]();
    await this.#confirmations[Symbol.asyncDispose]();
    await this.#reporter[Symbol.asyncDispose]();
  }

  #setApplied(applied: FeedPosition | undefined): void {
    this.#applied = applied;
    this.#reporter.setApplied(applied);
  }

  /** Retries prefetches that no worker could do, and asks for secrets that were withheld. */
  #retry(): void {
    if (this.#applied !== undefined) this.#prefetches.advance(this.#applied.revision);
    void this.#askForSecrets(); // never rejects
  }

  /** Takes a snapshot as soon as control no longer withholds secrets from this edge. */
  async #askForSecrets(): Promise<void> {
    try {
      if (this.#isSnapshotDue || !this.#options.store.hasWithheld()) return;
      if (!(await this.#viewKeys.areGiven(this.#stop.signal))) return;
      this.#isSnapshotDue = true;
      this.#attempt.abort(new Reopening('control gives this edge secrets again'));
    } catch {
      // asked again with the next report
    }
  }

  /** Asks the workers to confirm the stored set: after a start, it is in force only when they do. */
  #confirmStored(): void {
    const head = this.#options.store.head();
    if (head !== undefined) this.#confirmations.add(head, undefined);
  }

  /**
   * Checks the store before its content is used. Returns true if the content was lost, so that the client starts again
   * from nothing.
   */
  #repair(cause?: unknown): boolean {
    if (!this.#options.store.repair(cause)) return false;
    this.#options.log.error('the settings file of this edge was removed, replaced or damaged; requesting a snapshot');
    this.#setApplied(undefined);
    this.#confirmations.forget();
    this.#attempt.abort(new Reopening('the settings of this edge were lost'));
    this.#confirmStored();
    return true;
  }

  #look(cause?: unknown): void {
    // Control treats connections with a replaced certificate as those of a copy.
    if (this.isConnected && this.#options.link.serial !== this.#serial)
      this.#attempt.abort(new Reopening('the certificate of this edge was renewed'));
    try {
      this.#repair(cause);
      this.#isLookFailing = false;
    } catch (error) {
      if (!this.#isLookFailing) this.#options.log.error({ err: error }, 'cannot open a settings file; retrying');
      this.#isLookFailing = true;
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#attempt = new AbortController();
      const { link, log } = this.#options;
      const { control } = link;
      const { outage, failure } = await this.#attend();
      if (signal.aborted) return;
      this.#connection.noteEnd();
      this.#options.asks?.lose();
      if (outage.kind === 'version')
        log.error({ err: failure }, 'control and this edge share no version of the feed; retrying every minute');
      const remoteControls = link.isRemote ? link.controlCount : 0;
      const attempts = { ...this.#failures.attempts(steadyClock()), remoteControls };
      await delay(feedDelayMs(outage, attempts, Math.random()), undefined, { signal }).catch(() => undefined); // a stop
      // Control often stops a moment before this process does, which is not worth a log line. If this process got no
      // processor time meanwhile, the order to stop is read after the timers.
      await setImmediate();
      if (signal.aborted) return;
      if (failure === undefined || outage.kind === 'version') this.#connection.sayLeft();
      else this.#connection.sayLost(control, failure);
    }
  }

  /** Follows the feed until it is lost, with a snapshot first if that is needed. Returns why it was lost. */
  async #attend(): Promise<{ readonly outage: Outage; readonly failure?: unknown }> {
    try {
      const head = (this.#isSnapshotDue ? undefined : this.#options.store.head()) ?? (await this.#takeSnapshot());
      const end = await this.#follow(head);
      if (end !== 'reset') return { outage: { kind: 'goaway', ...end } };
      this.#failures.add(steadyClock()); // an open stream resets it; this backs off from a control that only sends `reset`
      await this.#takeSnapshot();
      return { outage: REFUSED };
    } catch (error) {
      if (this.#attempt.signal.reason instanceof Reopening) return { outage: REFUSED };
      if (!this.#stop.signal.aborted) this.#look(error);
      this.#failures.add(steadyClock());
      const outage = this.#outageOf(error);
      if (outage.kind === 'lost') this.#options.link.turn(); // this control may have died
      return { outage, failure: error };
    }
  }

  #outageOf(error: unknown): Outage {
    if (error instanceof FeedRefusal) {
      return error.status === 426 ? { kind: 'version' } : { kind: 'refused', retryAfterMs: error.retryAfterMs };
    }
    return this.isConnected ? { kind: 'lost', spreadMs: this.#spreadMs } : REFUSED;
  }

  async #takeSnapshot(): Promise<FeedPosition> {
    const { store, link, clock, log, snapshotFile: file } = this.#options;
    this.#viewKeys.forget();
    const source = { link, viewKeys: this.#viewKeys, file, clock, signal: this.#attempt.signal };
    const { epoch, revision, tag, count } = await takeSnapshot(store, source);
    link.announce(store.announcedControls());
    this.#isSnapshotDue = false;
    const at = { epoch, revision, tag };
    const rejected = store.countRejections();
    log.info({ revision, count, rejected }, 'snapshot applied');
    this.#sayRefused(rejected, store.listRejections(MAX_TOLD));
    this.#confirmations.add(at, undefined);
    return at;
  }

  #sayRefused(rejected: number, first: readonly Rejection[]): void {
    if (rejected === 0) return;
    this.#options.log.error({ rejected, first }, 'cannot apply some settings; their previous versions stay in force');
  }

  /** Follows changes until control asks for a snapshot or is to be left. Throws when the stream ends otherwise. */
  async #follow(at: FeedPosition): Promise<'reset' | { readonly waitMs: number }> {
    const { link, store } = this.#options;
    const path = `${STREAM_PATH}?${formatPositionQuery(at, store.view())}`;
    const { signal } = this.#attempt;
    const { serial, control } = link;
    const response = await requestFeed({ link, path, signal, silenceMs: SILENCE_MS, isStream: true });
    using departure = createDeparture({ leave: () => response.destroy(), random: Math.random, steadyClock });
    try {
      for await (const event of readEvents(response, MAX_EVENT_CHARS)) {
        if (event.kind === 'event' && event.name === 'reset') return 'reset';
        if (event.kind === 'event' && event.name === 'goaway') departure.announce(parseSpread(event.data));
        else await this.#take(at.epoch, event);
        this.#failures.reset();
        if (this.isConnected) continue;
        this.#serial = serial;
        this.#connection.noteConnected(control);
        this.#reporter.reportSoon(); // a control that has just started needs one
        this.#retry();
      }
    } catch (error) {
      if (departure.remainingMs === undefined || signal.aborted) throw error;
    } finally {
      response.destroy();
    }
    const { remainingMs: waitMs } = departure;
    if (waitMs === undefined) throw new Error('control closed the stream');
    link.turn();
    return { waitMs };
  }

  async #take(epoch: string, event: SseItem): Promise<void> {
    if (event.kind === 'comment') {
      if (event.text !== '') this.#spreadMs = parseSpread(event.text);
    } else if (event.name === 'viewkey') {
      this.#viewKeys.take(event.data);
      void this.#askForSecrets(); // never rejects
    } else if (event.name === 'ask') {
      this.#options.asks?.take(parseAsk(event.data));
    } else if (event.name === 'delta') {
      const delta = parseDelta(event.data);
      this.#apply(epoch, { ...delta, changes: await this.#viewKeys.open(delta.changes, this.#attempt.signal) });
    }
  }

  /** Applies a delta. Throws if it does not begin at our revision; the next connection sends that. */
  #apply(epoch: string, { from, to, tag, view, changes }: Delta): void {
    if (this.#repair()) throw this.#attempt.signal.reason;
    const { store, clock } = this.#options;
    const revision = store.head()?.revision;
    if (from !== revision) throw new Error(`a delta from ${from} while at ${revision}`);
    if (view !== store.view()) throw new Error(`a delta of the view ${view} while at ${store.view()}`);
    const accepted = createAcceptor(store, { isFresh: false })(changes);
    store.applyDelta({ revision: to, tag }, accepted, clock());
    const refused = accepted.filter((change) => change.kind === 'reject');
    const first = refused.slice(0, MAX_TOLD).map(({ resource, kind: _, ...told }) => ({ kind: resource, ...told }));
    this.#sayRefused(refused.length, first);
    if (changes.some(({ kind }) => kind === FLEET_KIND)) this.#options.link.announce(store.announcedControls());
    this.#confirmations.add({ epoch, revision: to, tag }, changes.flatMap(changedSites));
  }

  async #reportPrefetches(results: readonly PrefetchResultEntry[]): Promise<void> {
    const { store, edgeId } = this.#options;
    const at = store.head();
    if (at === undefined) return; // their set is gone
    await this.#post(PREFETCH_PATH, toPrefetchReport(edgeId, at, results));
  }

  #post(path: string, message: object): Promise<IncomingHttpHeaders> {
    return postMessage(this.#options.link, path, message, this.#stop.signal);
  }
}
