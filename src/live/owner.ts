/**
 * All streams of this machine: admits publishers and players, checks them again when settings change, and reports the
 * state of each stream. Marks and domains are read from the edge's own file, so they apply while control is down.
 * docs/decisions/0491
 */
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import { isForbidden, type LiveMarkSource, type NamedLiveMark, type StreamName, streamKey } from '#sites/live.ts';
import type { Site } from '#sites/site.ts';
import type { SiteTable } from '#sites/table.ts';
import { Capacity, type CapacityLimits } from './capacity.ts';
import type { NewEvent } from './event-store.ts';
import type { LiveFile } from './live-file.ts';
import { type Admission, type HolderSide, LiveStream } from './live-stream.ts';
import type { RareLines } from './rare-lines.ts';
import type { Recorder } from './recording/recorder.ts';
import { type StreamLine, StreamLines } from './stream-lines.ts';
import { STREAM_LIMITS, type StreamLimits } from './streams/stream-state.ts';

export interface OwnerOptions {
  readonly sites: SiteTable;
  readonly marks: LiveMarkSource;
  readonly file: Pick<LiveFile, 'append' | 'saveLastMedia'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly limits?: Partial<StreamLimits>;
  readonly capacity: CapacityLimits;
  readonly recorder: Pick<Recorder, 'start' | 'stop'>;
  newBroadcastId(): string;
  /** Counts the viewers of a stream, on all workers. */
  countViewers(name: StreamName): number;
  /** Notified of each event, to report it to control soon. */
  onEvent(): void;
  readonly log: Logger;
  readonly rareLines: RareLines;
}

/** Interval at which the deadlines of streams are checked. */
const TICK_MS = 250;
/** Interval of saving the streams on air: after a kill, their recorded end is at most this much too early. */
const SAVE_MS = 10_000;

interface Known {
  readonly stream: LiveStream;
  /** Host of the domain, by which the site is looked up again when settings change. */
  readonly host: string;
}

export class Owner implements Disposable {
  readonly lines = new StreamLines();
  readonly #options: OwnerOptions;
  readonly #streams = new Map<string, Known>();
  readonly #capacity: Capacity;
  #marks: ReadonlyMap<string, NamedLiveMark> = new Map();
  #disowned = '';
  /** Whether settings or marks have changed and could not be read yet. */
  #isStale = false;
  #hasStopped = false;
  #lastHolderId = 0;
  #savedAt: number;
  #cancelTick: () => void;

  constructor(options: OwnerOptions) {
    this.#options = options;
    const { timers } = options;
    this.#capacity = new Capacity(options.capacity);
    this.#savedAt = timers.now();
    this.applyChange(undefined);
    this.#cancelTick = timers.after(TICK_MS, () => this.#tick());
  }

  /** Returns the site of a host. */
  siteOf(host: string | undefined): Site | undefined {
    return host === undefined ? undefined : this.#options.sites.find(host);
  }

  /**
   * Admits a holder that its domain's rules allow. `host` is the domain's. Marks and the domain's state are checked
   * again: an origin may have answered long after its pull began.
   */
  admit(name: StreamName, host: string, side: HolderSide): Admission {
    if (this.#hasStopped || !isOpen(this.siteOf(host), name)) return { kind: 'refused', reason: 'closed' };
    const key = streamKey(name);
    const held = this.#streams.get(key);
    const now = this.#options.timers.now();
    // A publisher that returns to its stream needs no further share.
    const refusal = held === undefined ? this.#capacity.refusal(name.domainId, now) : undefined;
    if (refusal !== undefined) return { kind: 'refused', reason: refusal };
    const begins = held === undefined || (held.stream.onAir === undefined && held.stream.side === undefined);
    if (begins && !this.#capacity.begin(name.domainId, now)) return { kind: 'refused', reason: 'rate' };
    const known = held ?? { stream: this.#create(name), host };
    if (held === undefined) this.#capacity.enter(name.domainId);
    this.#streams.set(key, { ...known, host });
    const admission = known.stream.admit(side, this.isForbidden(name));
    if (known.stream.isIdle) this.#forget(key, name);
    return admission;
  }

  #forget(key: string, { domainId }: StreamName): void {
    this.#streams.delete(key);
    this.#capacity.leave(domainId);
  }

  find(name: StreamName): LiveStream | undefined {
    return this.#streams.get(streamKey(name))?.stream;
  }

  /** Whether no stream is on air, awaited or still fetched by HLS viewers. */
  get isEmpty(): boolean {
    return this.#streams.size === 0;
  }

  list(): readonly LiveStream[] {
    return [...this.#streams.values()].map(({ stream }) => stream);
  }

  isForbidden({ domainId, app, stream }: StreamName): boolean {
    return isForbidden(this.#options.marks.getLiveMark(domainId, app, stream), this.#options.clock());
  }

  /** Converts an instant of the timers to epoch milliseconds. */
  toEpoch(at: number): number {
    const { clock, timers } = this.#options;
    return clock() - (timers.now() - at);
  }

  /** Called when settings of these sites (`undefined`: any) or marks have changed. Checks all streams again. */
  applyChange(names: readonly string[] | undefined): void {
    this.#options.sites.forget(names);
    this.#isStale = true;
    this.#recheck();
  }

  /** Ends these broadcasts: other live processes have their streams on air. */
  disown(broadcasts: readonly string[]): void {
    for (const broadcast of broadcasts) {
      this.#disowned = broadcast;
      for (const known of this.#streams.values())
        if (known.stream.onAir?.broadcast === broadcast) this.#applyRules(known);
    }
    this.#disowned = '';
  }

  /**
   * Ends the stream's broadcast for a publisher that another process of this machine is to admit. Returns false if its
   * present publisher is to be kept, as `admit` would.
   */
  release(name: StreamName): boolean {
    return this.find(name)?.release() !== false;
  }

  /** Ends all broadcasts. No other begins. */
  stop(): void {
    this.#hasStopped = true;
    for (const { stream } of this.#streams.values()) stream.stop();
    this.#options.file.saveLastMedia([]);
  }

  [Symbol.dispose](): void {
    this.#cancelTick();
  }

  #create(name: StreamName): LiveStream {
    const { timers, clock, limits, recorder, newBroadcastId } = this.#options;
    return new LiveStream({
      name,
      limits: { ...STREAM_LIMITS, ...limits },
      timers,
      clock,
      toEpoch: (at) => this.toEpoch(at),
      newHolderId: () => ++this.#lastHolderId,
      newBroadcastId,
      onEvent: (event) => this.#note(event),
      onBegan: () => this.#recordIfWanted(this.#streams.get(streamKey(name))),
      onEnded: ({ id }) => recorder.stop(id, 'ended'),
      onChange: () => this.#show(name),
    });
  }

  #note(event: NewEvent): void {
    const { file, log, onEvent } = this.#options;
    const { kind: what, ...rest } = event;
    log.info({ what, ...rest }, 'broadcast');
    file.append(event);
    onEvent();
  }

  #tick(): void {
    const { timers, countViewers } = this.#options;
    if (this.#isStale || this.#hasMarkRunOut()) this.#recheck();
    for (const [key, { stream }] of this.#streams) {
      stream.tick(countViewers(stream.name));
      if (stream.isIdle) this.#forget(key, stream.name);
    }
    this.#empty();
    if (timers.now() - this.#savedAt >= SAVE_MS) this.#save();
    this.#cancelTick = timers.after(TICK_MS, () => this.#tick());
  }

  /** Empties streams of domains that hold more than their share of the memory. */
  #empty(): void {
    const { timers, rareLines } = this.#options;
    const holdings = this.list().map((stream) => ({
      stream,
      domainId: stream.name.domainId,
      bytes: stream.bytesHeld,
    }));
    for (const { stream, domainId, bytes } of this.#capacity.measure(holdings, timers.now())) {
      rareLines.warn(
        domainId,
        { ...stream.name, bytes },
        'a domain fills its share of live-memory: a stream is emptied',
      );
      stream.empty();
    }
  }

  #save(): void {
    const { timers, file } = this.#options;
    this.#savedAt = timers.now();
    const onAir = this.list().flatMap(({ onAir }) => onAir ?? []);
    file.saveLastMedia(
      onAir.map(({ broadcast, lastMediaAt }) => ({ broadcast, lastMediaAt: this.toEpoch(lastMediaAt) })),
    );
  }

  #recheck(): void {
    try {
      const marks = this.#options.marks.listLiveMarks();
      const now = this.#options.clock();
      const before = this.#marks;
      this.#marks = new Map(marks.filter((mark) => isForbidden(mark, now)).map((mark) => [streamKey(mark), mark]));
      for (const known of this.#streams.values()) this.#applyRules(known);
      for (const mark of marks) if (before.has(streamKey(mark)) || this.#marks.has(streamKey(mark))) this.#show(mark);
      for (const [key, mark] of before) if (!this.#marks.has(key)) this.#show(mark);
      this.#isStale = false;
    } catch (error) {
      // Retried at the next tick. Until then a publish fails for the same reason and is refused.
      this.#options.log.error({ err: error }, 'cannot read the settings of live streams');
    }
  }

  /** Whether a mark has expired, so that its stream is to be resumed. */
  #hasMarkRunOut(): boolean {
    const now = this.#options.clock();
    for (const mark of this.#marks.values()) if (!isForbidden(mark, now)) return true;
    return false;
  }

  #applyRules(known: Known): void {
    const { stream, host } = known;
    const { domainId, app, stream: name } = stream.name;
    const mark = this.#options.marks.getLiveMark(domainId, app, name);
    const site = this.siteOf(host);
    const address = stream.side?.address;
    const isRefused = site?.access.deniedAddresses?.denies(address) === true;
    stream.applyRules({
      isForbidden: isForbidden(mark, this.#options.clock()),
      isOpen: isOpen(site, stream.name) && !isRefused,
      kicked: mark?.kicked ?? '',
      disowned: this.#disowned,
    });
    this.#recordIfWanted(known);
  }

  #recordIfWanted(known: Known | undefined): void {
    const broadcast = known?.stream.broadcast;
    if (known === undefined || broadcast === undefined) return;
    const { recorder, log } = this.#options;
    try {
      const site = this.siteOf(known.host);
      if (site?.id === known.stream.name.domainId && site.records === true)
        recorder.start(known.stream.name, broadcast);
      else recorder.stop(broadcast.id, 'off');
    } catch (error) {
      log.error(
        { err: error, ...known.stream.name },
        'cannot read whether to record a broadcast; leaving its recording unchanged',
      );
    }
  }

  #show(name: StreamName): void {
    this.lines.set(this.#lineOf(name));
  }

  #lineOf({ domainId, app, stream }: StreamName): StreamLine {
    const name = { domain: domainId, app, stream };
    if (this.#marks.has(streamKey({ domainId, app, stream }))) return { ...name, state: 'paused' };
    const known = this.find({ domainId, app, stream });
    const onAir = known?.onAir;
    // HLS players still have to fetch the end of the playlist.
    if (onAir === undefined && known?.past !== undefined) return { ...name, state: 'grace', broadcast: known.past.id };
    if (onAir === undefined) return { ...name, state: 'none' };
    return { ...name, state: onAir.brokenAt === undefined ? 'live' : 'grace', broadcast: onAir.broadcast };
  }
}

function isOpen(site: Site | undefined, { domainId }: StreamName): boolean {
  return site?.id === domainId && site.type === 'live' && site.state === 'open';
}
