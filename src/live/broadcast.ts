/** One broadcast: its clock, its viewers, its figures. Who publishes it may change; its id does not. */
import { HUB_LIMITS, Hub } from '#fanout/hub.ts';
import { describeMedia } from '#fanout/media/describe.ts';
import type { MediaMessage } from '#fanout/media/message.ts';
import { Timeline } from '#fanout/media/timeline.ts';
import type { Timers } from '#lib/timers.ts';
import { type MediaFigures, Meter } from './meter.ts';

export class Broadcast {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly hub: Hub;
  readonly #timers: Timers;
  readonly #timeline = new Timeline();
  readonly #meter = new Meter();

  constructor({ id, startedAt, timers }: { readonly id: string; readonly startedAt: number; readonly timers: Timers }) {
    this.id = id;
    this.startedAt = startedAt;
    this.#timers = timers;
    this.hub = new Hub({ limits: HUB_LIMITS, timers });
  }

  get figures(): MediaFigures & { readonly repairedTimestamps: number } {
    return { ...this.#meter.figures, repairedTimestamps: this.#timeline.repairs };
  }

  /** A message as its publisher sent it. */
  take(message: MediaMessage): void {
    const now = this.#timers.now();
    const facts = describeMedia(message);
    const placed = this.#timeline.place(message, facts, now);
    this.#meter.note(placed, facts, now);
    this.hub.push(placed);
  }

  /** Another publisher goes on with it. */
  resume(): void {
    this.#timeline.restart();
  }

  /** Viewers get what is pending, then their end. */
  end(): void {
    this.hub.end();
  }

  /** Viewers are cut at once. */
  cut(): void {
    this.hub.cut();
  }
}
