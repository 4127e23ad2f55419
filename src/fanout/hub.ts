/**
 * One broadcast to many viewers. Each message is encoded once per encoding; beyond `mergeAbove` viewers writes are merged;
 * a viewer that is too slow misses whole messages up to the next key frame. docs/decisions/0495
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
  // Three frames of a stream of 25 or 30 a second. docs/decisions/0529
  mergeMs: 95,
  maxMergedBytes: 1024 * 1024,
};

/** Headers are kept for as long as the broadcast lasts, and each viewer begins with them. */
const MAX_HEADER_BYTES = 256 * 1024;

export interface HubOptions {
  readonly limits: HubLimits;
  readonly timers: Timers;
  /** Calls `run` when all that the current event brings has been pushed. */
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

  /** What is kept for viewers to come: once as it came, and once in each encoding that is watched. */
  get bytesHeld(): number {
    return this.#gop.bytesHeld * (1 + this.#lanes.size);
  }

  /** Drops that, but for the headers: viewers to come wait for the next key frame. */
  empty(): void {
    this.#gop.empty();
  }

  /** What a viewer that attaches now begins with: headers, and the messages since the last key frame. */
  replay(): readonly MediaMessage[] {
    return [...this.#gop.headers, ...this.#gop.messages];
  }

  /** `given.data` is kept and must not change any more. `facts` are those of the message. */
  push(given: MediaMessage, facts: MediaFacts = describeMedia(given)): void {
    if (facts.isIgnored) return;
    if ((facts.isSequenceHeader || facts.isMetadata) && given.data.length > MAX_HEADER_BYTES) return;
    // ffmpeg takes metadata at any other time for a track of text.
    const message = facts.isMetadata ? { ...given, timestampMs: 0 } : given;
    // So all messages of one merged write follow the same headers.
    if (facts.isSequenceHeader || facts.isMetadata) for (const lane of this.#lanes.values()) lane.flush();
    const role = this.#gop.add(message, facts);
    for (const lane of this.#lanes.values()) lane.push(message, role);
  }

  /** Writes what the viewer needs to begin at once: header, metadata, sequence headers, messages since the key frame. */
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

  /** A lane goes with its last viewer, and with it what is encoded for it. */
  #detach(name: string, place: LaneSeat): void {
    const lane = this.#lanes.get(name);
    if (lane === undefined) return;
    lane.detach(place);
    if (lane.size > 0) return;
    lane.cut();
    this.#lanes.delete(name);
  }

  /** The broadcast is over: viewers get what is pending, then their end. */
  end(): void {
    this.#close((lane) => lane.end());
  }

  /** Viewers are cut at once. */
  cut(): void {
    this.#close((lane) => lane.cut());
  }

  #close(close: (lane: Lane) => void): void {
    const lanes = [...this.#lanes.values()];
    this.#lanes.clear();
    for (const lane of lanes) close(lane);
  }
}
