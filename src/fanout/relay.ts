/** A broadcast that is read as FLV from the process that has it, for all viewers of this process. */
import type { IncomingMessage } from 'node:http';
import { systemTimers } from '#lib/timers.ts';
import type { HubViewer } from './encoding.ts';
import { Hub, type HubLimits } from './hub.ts';
import { FlvReader } from './media/flv.ts';

/** How long a relay outlives its last viewer, for a viewer that returns soon. */
const IDLE_MS = 2_000;

export class Relay {
  readonly broadcast: string;
  readonly #answer: IncomingMessage;
  readonly #hub: Hub;
  #idle: NodeJS.Timeout | undefined;
  readonly #reader = new FlvReader();
  #isOver = false;

  constructor(answer: IncomingMessage, limits: HubLimits) {
    this.#answer = answer;
    this.broadcast = String(answer.headers['causeway-broadcast'] ?? '');
    this.#hub = new Hub({ limits, timers: systemTimers });
    this.#startIdle();
  }

  get bytesHeld(): number {
    return this.#hub.bytesHeld + this.#reader.partialBytes;
  }

  /** Drops the kept media: new viewers wait for the next key frame. */
  empty(): void {
    this.#hub.empty();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  attach(viewer: HubViewer): { detach(): void } {
    if (this.#isOver) {
      viewer.cut();
      return { detach: () => undefined };
    }
    clearTimeout(this.#idle);
    const seat = this.#hub.attach(viewer);
    const detach = () => {
      seat.detach();
      if (!this.#isOver && this.#hub.viewers === 0) this.#startIdle();
    };
    return { detach };
  }

  /** Resolves at the end of the relay, with the error that ended it, if any. Never rejects. */
  run(): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const fail = (error: unknown) => {
      if (this.#isOver) return;
      this.cut();
      resolve(error);
    };
    this.#answer.on('data', (bytes: Buffer) => {
      if (this.#isOver) return;
      try {
        for (const message of this.#reader.push(bytes)) this.#hub.push(message);
      } catch (error) {
        fail(error);
      }
    });
    this.#answer.once('end', () => this.end());
    this.#answer.once('error', fail);
    this.#answer.once('close', () => {
      fail(new Error('the connection to the live process closed'));
      resolve(undefined);
    });
    return promise;
  }

  cut(): void {
    this.#stop();
    this.#hub.cut();
  }

  end(): void {
    this.#stop();
    this.#hub.end();
  }

  #stop(): void {
    this.#isOver = true;
    clearTimeout(this.#idle);
    this.#answer.destroy();
  }

  #startIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.end(), IDLE_MS);
  }
}
