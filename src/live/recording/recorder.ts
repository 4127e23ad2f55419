/** Records broadcasts. A broadcast never waits for its recording and never fails because of it. docs/decisions/0504 */
import type { WindowListener } from '#fanout/hls/window.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import type { StreamName } from '#sites/live.ts';
import { RecordingSession } from './session.ts';
import type { RecordingSpool } from './spool.ts';

/** A broadcast, as the recorder sees it. */
export interface Recordable {
  readonly id: string;
  record(listener: WindowListener): void;
  stopRecording(): void;
}

export interface RecorderOptions {
  readonly spool: RecordingSpool;
  newRecordingId(): string;
  readonly timers: Timers;
  readonly log: Logger;
}

/** Shortest time between two log lines about failures: on a full disk every recording fails. */
const SAY_AGAIN_MS = 60_000;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #sessions = new Map<string, { readonly session: RecordingSession; readonly broadcast: Recordable }>();
  /** Stopped recordings that are still being written. */
  readonly #ending = new Set<Promise<void>>();
  readonly stopped = { full: 0, slow: 0 };
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Number of broadcasts that are being recorded. */
  get recording(): number {
    return [...this.#sessions.values()].filter(({ session }) => session.isRecording).length;
  }

  /** Starts recording a broadcast, unless it is being recorded already. */
  start(name: StreamName, broadcast: Recordable): void {
    if (this.#sessions.has(broadcast.id)) return;
    const { spool, newRecordingId, timers } = this.#options;
    const session = new RecordingSession({
      ...{ name, broadcast: broadcast.id, spool, newRecordingId },
      steadyNow: () => timers.now(),
      onStopped: (end, error) => this.#note(name, end, error),
    });
    this.#sessions.set(broadcast.id, { session, broadcast });
    broadcast.record(session);
  }

  /**
   * Stops recording a broadcast, if it is being recorded. If the broadcast has ended, its last part must be made
   * already.
   */
  stop(id: string, end: 'ended' | 'off'): void {
    const found = this.#sessions.get(id);
    if (found === undefined) return;
    const { session, broadcast } = found;
    this.#sessions.delete(id);
    broadcast.stopRecording();
    session.end(end);
    const settled = session.settled().finally(() => this.#ending.delete(settled));
    this.#ending.add(settled);
  }

  /** Resolves when all stopped recordings are written. */
  async settled(): Promise<void> {
    await Promise.all(this.#ending);
  }

  #note({ domainId, app, stream }: StreamName, end: 'full' | 'slow', error: unknown): void {
    const { timers, log } = this.#options;
    this.stopped[end]++;
    if (timers.now() - this.#saidAt < SAY_AGAIN_MS) return;
    this.#saidAt = timers.now();
    const { full, slow } = this.stopped;
    log.error({ err: error, domainId, app, stream, full, slow }, 'recording stopped; retrying');
  }
}
