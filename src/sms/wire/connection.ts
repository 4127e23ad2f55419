/** Keeps one session with a carrier: connects, logs in, and reconnects with back-off until it is disposed of. */
import type { CarrierAddress } from '#model/sms-connector.ts';
import type { CarrierTools } from '../carrier.ts';
import type { Dialect, WireRequest } from './dialect.ts';
import { reconnectDelayMs } from './reconnect.ts';
import { type SessionEnd, type SessionTimes, type Transport, WireSession } from './session.ts';
import { openSocket } from './socket.ts';

export interface ConnectionOptions<P, R extends WireRequest> {
  readonly dialect: Dialect<P, R>;
  readonly address: CarrierAddress;
  readonly times: SessionTimes;
  readonly tools: CarrierTools;
  readonly events: ConnectionEvents<P>;
}

interface ConnectionEvents<P> {
  /** Notified when `session` is bound or ends. */
  changed(): void;
  /** Notified when a session ends or fails to open, before `changed`. */
  ended(end: SessionEnd): void;
  /** See `SessionEvents`. */
  deliver(packet: P, frame: Buffer): Promise<boolean>;
}

/** A session that lasted at least this long resets the back-off. */
const STABLE_MS = 30_000;
/** The same where the protocol has no sign of life: gateways close its idle sessions, which is no failure. */
const STABLE_IDLE_MS = 5_000;

export class WireConnection<P, R extends WireRequest> implements AsyncDisposable {
  readonly #options: ConnectionOptions<P, R>;
  /** Parts that were sent and have no answer yet; the sender counts them. */
  inFlight = 0;
  #session: WireSession<P, R>;
  #failures = 0;
  #isClosing = false;
  #cancel: (() => void) | undefined;

  constructor(options: ConnectionOptions<P, R>) {
    this.#options = options;
    this.#session = this.#connect();
  }

  get dialect(): Dialect<P, R> {
    return this.#options.dialect;
  }

  /** The bound session. */
  get session(): WireSession<P, R> | undefined {
    return this.#session.isBound ? this.#session : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#cancel?.();
    await this.#session.leave();
  }

  #connect(): WireSession<P, R> {
    const { dialect, address, times, tools, events } = this.#options;
    let boundAt: number | undefined;
    let transport: Transport | undefined;
    const session = new WireSession({
      ...{ dialect, times, timers: tools.timers },
      transport: {
        write: (octets) => transport?.write(octets),
        hold: (isHeld) => transport?.hold(isHeld),
        end: () => transport?.end(),
      },
      events: {
        bound: (warning) => {
          boundAt = tools.timers.now();
          tools.log.info(this.#facts(), 'bound to the carrier');
          if (warning !== undefined) tools.log.warn(this.#facts(), warning);
          events.changed();
        },
        deliver: events.deliver,
        ended: (end) => this.#ended(end, boundAt),
      },
    });
    const socketEvents = {
      opened: () => session.opened(),
      received: (octets: Buffer) => session.received(octets),
      closed: (reason: string) => session.closed(reason),
    };
    try {
      transport = openSocket(address, socketEvents);
    } catch (error) {
      // An invalid port or certificate. Reported only after the caller has the session.
      this.#cancel = tools.timers.after(0, () => session.closed(String(error)));
    }
    return session;
  }

  #ended(end: SessionEnd, boundAt: number | undefined): void {
    const { dialect, tools, events } = this.#options;
    const stableMs = dialect.alive === undefined ? STABLE_IDLE_MS : STABLE_MS;
    const isStable = boundAt !== undefined && tools.timers.now() - boundAt >= stableMs;
    this.#failures = isStable ? 1 : this.#failures + 1;
    const delayMs = reconnectDelayMs(end, this.#failures, tools.random());
    if (!this.#isClosing) {
      tools.log.warn({ ...this.#facts(), end, delayMs }, 'carrier session ended; reconnecting');
      this.#cancel = tools.timers.after(delayMs, () => {
        this.#session = this.#connect();
      });
    }
    events.ended(end);
    events.changed();
  }

  #facts(): object {
    const { dialect, address } = this.#options;
    return { carrier: address.host, ...(dialect.role !== undefined && { role: dialect.role }) };
  }
}
