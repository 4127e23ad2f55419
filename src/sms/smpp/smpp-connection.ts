/** Keeps one session with a carrier bound: connects, binds, and reconnects with back-off until it is disposed of. */
import type { SmppSettings } from '#model/sms-connector.ts';
import type { CarrierTools } from '../carrier.ts';
import { reconnectDelayMs } from './reconnect.ts';
import { type BindCommand, type Deliver, type SessionEnd, SmppSession, type Transport } from './session.ts';
import { openSocket } from './socket.ts';

export interface ConnectionOptions {
  readonly settings: SmppSettings;
  readonly command: BindCommand;
  readonly tools: CarrierTools;
  readonly events: ConnectionEvents;
}

interface ConnectionEvents {
  /** Notified when `session` is bound or ends. */
  changed(): void;
  /** Notified when a session ends or fails to open, before `changed`. */
  ended(end: SessionEnd): void;
  /** See `SessionEvents`. */
  deliver(delivery: Deliver): Promise<boolean>;
}

/** A session that lasted at least this long resets the back-off. */
const STABLE_MS = 30_000;

export class SmppConnection implements AsyncDisposable {
  readonly #options: ConnectionOptions;
  #session: SmppSession;
  #failures = 0;
  #isClosing = false;
  #cancel: (() => void) | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#session = this.#connect();
  }

  /** The bound session. */
  get session(): SmppSession | undefined {
    return this.#session.isBound ? this.#session : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#cancel?.();
    await this.#session.leave();
  }

  #connect(): SmppSession {
    const { settings, command, tools, events } = this.#options;
    let boundAt: number | undefined;
    let transport: Transport | undefined;
    const session = new SmppSession({
      command,
      bind: bindFieldsOf(settings),
      times: timesOf(settings),
      timers: tools.timers,
      transport: { write: (octets) => transport?.write(octets), end: () => transport?.end() },
      events: {
        bound: () => {
          boundAt = tools.timers.now();
          tools.log.info({ carrier: settings.host, command }, 'bound to the carrier');
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
      transport = openSocket(settings, socketEvents);
    } catch (error) {
      // An invalid port or certificate. Reported only after the caller has the session.
      this.#cancel = tools.timers.after(0, () => session.closed(String(error)));
    }
    return session;
  }

  #ended(end: SessionEnd, boundAt: number | undefined): void {
    const { settings, command, tools, events } = this.#options;
    const isStable = boundAt !== undefined && tools.timers.now() - boundAt >= STABLE_MS;
    this.#failures = isStable ? 1 : this.#failures + 1;
    const delayMs = reconnectDelayMs(end, this.#failures, tools.random());
    if (!this.#isClosing) {
      tools.log.warn({ carrier: settings.host, command, end, delayMs }, 'carrier session ended; reconnecting');
      this.#cancel = tools.timers.after(delayMs, () => {
        this.#session = this.#connect();
      });
    }
    events.ended(end);
    events.changed();
  }
}

function bindFieldsOf({ systemId, password, systemType, interfaceVersion }: SmppSettings) {
  return { systemId, password, systemType, interfaceVersion, addrTon: 0, addrNpi: 0, addressRange: '' };
}

function timesOf({ bindSeconds, enquireSeconds, inactivitySeconds, responseSeconds }: SmppSettings) {
  return {
    bindMs: bindSeconds * 1000,
    enquireMs: enquireSeconds * 1000,
    inactivityMs: inactivitySeconds * 1000,
    responseMs: responseSeconds * 1000,
  };
}
