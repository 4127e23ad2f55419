/**
 * Sends one broadcast to many viewers. Each message is encoded once per encoding; writes to more than `mergeAbove`
 * viewers are merged; a viewer that is too slow skips to the next key frame. docs/decisions/0495
 */
import type { Timers } from '#lib/timers.ts';
import type { HubViewer } from './encoding.ts';
import { GopCache, type GopLimits } from './gop-cache.ts';
import { Lane, type LaneLimits, type LaneSeat } from './lane.ts';
import { describeMedia, type MediaFacts } from './media/describe.ts';
import type { MediaMessage } from './media/message.ts';

export interface HubLimits extends GopLimits, LaneLimits {}

export const HUB_LIMITS: HubLimits = {
  maxGopMs: 10_000,
  maxGopBytes: 16 * 1024 * 1024,
  maxQueuedBytes: 4 * 1024 * 1024,
  maxQueuedWrites: 8_192,
  maxQueuedMs: 8_000,
  stallMs: 20_000,
  mergeAbove: 50,
  // Three frames at 25 or 30 frames a second. docs/decisions/0529
  mergeMs: 95,
  maxMergedBytes: 1024 * 1024,
};

/** Limit of a header, which is kept as long as the broadcast lasts and sent to each viewer. */
const MAX_HEADER_BYTES = 256 * 1024;

export interface HubOptions {
  readonly limits: HubLimits;
  readonly timers: Timers;
  /** Calls `run` after all messages of the current event have been pushed. */
  readonly soon?: (run: () => void) => void;
}

export class Hub {
  readonly #limits: HubLimits;
  readonly #timers: Timers;
  readonly #soon: (run: () => void) => void;
  readonly #gop: GopCache;
  readonly #lanes = new Map<string, Lane>();

  constructor({ limits, timers, soon = queueMicrotask }: HubOptions) {
    this.#limits = limits;
    this.#timers = timers;
    this.#soon = soon;
    this.#gop = new GopCache(limits);
  }

  get viewers(): number {
    let count = 0;
    for (const lane of this.#lanes.values()) count += lane.size;
    return count;
  }

  /** Size of the media kept for new viewers: as received, and once in each encoding in use. */
  get bytesHeld(): number {
    return this.#gop.bytesHeld * (1 + this.#lanes.size);
  }

  /** Drops the kept media except the headers. New viewers wait for the next key frame. */
  empty(): void {
    this.#gop.empty();
  }

  /** Returns the messages with which a new viewer begins: headers, and those since the last key frame. */
  replay(): readonly MediaMessage[] {
    return [...this.#gop.headers, ...this.#gop.messages];
  }

  /** Sends a message. `given.data` is kept and must not change any more. `facts` are those of the message. */
  push(given: MediaMessage, facts: MediaFacts = describeMedia(given)): void {
    if (facts.isIgnored) return;
    if ((facts.isSequenceHeader || facts.isMetadata) && given.data.length > MAX_HEADER_BYTES) return;
    // ffmpeg takes metadata with another timestamp for a subtitle track.
    const message = facts.isMetadata ? { ...given, timestampMs: 0 } : given;
    // Flushed first, so that all messages of one merged write follow the same headers.
    if (facts.isSequenceHeader || facts.isMetadata) for (const lane of this.#lanes.values()) lane.flush();
    const role = this.#gop.add(message, facts);
    for (const lane of this.#lanes.values()) lane.push(message, role);
  }

  /**
   * Attaches a viewer and writes what it needs to begin: file header, metadata, sequence headers, messages since the
   * key frame.
   */
  attach(viewer: HubViewer): { detach(): void } {
    const { encoding } = viewer;
    let lane = this.#lanes.get(encoding.name);
    if (lane === undefined) {
      lane = new Lane({ encoding, gop: this.#gop, limits: this.#limits, timers: this.#timers, soon: this.#soon });
      this.#lanes.set(encoding.name, lane);
    }
    const place = lane.attach(viewer);
    return { detach: () => this.#detach(encoding.name, place) };
  }

  /** Detaches a viewer. A lane and its encoded media are dropped with its last viewer. */
  #detach(name: string, place: LaneSeat): void {
    const lane = this.#lanes.get(name);
    if (lane === undefined) return;
    lane.detach(place);
    if (lane.size > 0) return;
    lane.cut();
    this.#lanes.delete(name);
  }

  /** Ends the broadcast. Viewers still get what is pending. */
  end(): void {
    this.#close((lane) => lane.end());
  }

  /** Cuts all viewers at once. */
  cut(): void {
    this.#close((lane) => lane.cut());
  }

  #close(close: (lane: Lane) => void): void {
    const lanes = [...this.#lanes.values()];
    this.#lanes.clear();
    for (const lane of lanes) close(lane);
  }
}
