/** One broadcast: its clock, its viewers, its measurements. Its publisher may change; its id does not. */
import { OnDemandPackager } from '#fanout/hls/on-demand.ts';
import { HlsPackager } from '#fanout/hls/packager.ts';
import type { WindowListener } from '#fanout/hls/window.ts';
import { HUB_LIMITS, Hub } from '#fanout/hub.ts';
import { describeMedia } from '#fanout/media/describe.ts';
import type { MediaMessage } from '#fanout/media/message.ts';
import { Timeline } from '#fanout/media/timeline.ts';
import type { Clock } from '#lib/clock.ts';
import type { Timers } from '#lib/timers.ts';
import { type MediaFigures, Meter } from './meter.ts';

export interface BroadcastOptions {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly timers: Timers;
  readonly clock: Clock;
}

export class Broadcast {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly hub: Hub;
  readonly #timers: Timers;
  readonly #timeline = new Timeline();
  readonly #clock: Clock;
  readonly #meter = new Meter();
  /** The HLS packager; absent until the first request for HLS. */
  #hls: { readonly packager: HlsPackager; readonly onDemand: OnDemandPackager } | undefined;

  constructor({ id, startedAt, timers, clock }: BroadcastOptions) {
    this.id = id;
    this.startedAt = startedAt;
    this.#timers = timers;
    this.#clock = clock;
    this.hub = new Hub({ limits: HUB_LIMITS, timers });
  }

  get figures(): MediaFigures & { readonly repairedTimestamps: number } {
    return { ...this.#meter.figures, repairedTimestamps: this.#timeline.repairs };
  }

  /** Whether it has HLS viewers, or had some when it ended. */
  get isPackaged(): boolean {
    return this.#hls?.onDemand.isAsked === true;
  }

  /** Size of the media kept for new viewers and for HLS. */
  get bytesHeld(): number {
    return this.hub.bytesHeld + (this.#hls?.packager.bytesHeld ?? 0);
  }

  /** Drops the kept media. Present viewers are not affected; new ones wait for the next key frame. */
  empty(): void {
    this.hub.empty();
    this.#hls?.onDemand.stop();
  }

  /** Returns the packager for a request for HLS files, and starts it if needed. */
  askHls(): HlsPackager {
    return this.#packaging().onDemand.ask(this.#clock());
  }

  /** Notifies the listener of all parts from now on, whether or not there are HLS viewers. */
  record(listener: WindowListener): void {
    const { packager, onDemand } = this.#packaging();
    packager.window.listener = listener;
    onDemand.hold(this.#clock());
  }

  /** Stops recording. The listener is still notified of the open part. */
  stopRecording(): void {
    if (this.#hls === undefined) return;
    this.#hls.onDemand.release();
    this.#hls.packager.window.listener = undefined;
  }

  /** Takes a message as its publisher sent it. */
  take(message: MediaMessage): void {
    const now = this.#timers.now();
    const facts = describeMedia(message);
    const placed = this.#timeline.place(message, facts, now);
    this.#meter.note(placed, facts, now);
    this.hub.push(placed, facts);
    this.#hls?.onDemand.push(placed, facts, this.#clock());
  }

  #packaging() {
    if (this.#hls === undefined) {
      const packager = new HlsPackager({ keyFrameMs: this.#meter.figures.keyFrameMs });
      this.#hls = { packager, onDemand: new OnDemandPackager({ packager, replay: () => this.hub.replay() }) };
    }
    return this.#hls;
  }

  /** Called when another publisher continues the broadcast. */
  resume(): void {
    this.#timeline.restart();
    this.#hls?.packager.discontinuity();
  }

  /** Ends the broadcast. Viewers still get what is queued for them. */
  end(): void {
    this.#hls?.packager.end();
    this.hub.end();
  }

  /** Ends the broadcast and cuts its viewers at once. */
  cut(): void {
    this.#hls?.packager.end();
    this.hub.cut();
  }
}
