/**
 * Where a gateway of SGIP reaches us with reports and replies. Only the control that has the connector listens.
 * docs/decisions/0759
 */
import { createServer, type Server, type Socket } from 'node:net';
import { createAddressSet } from '#lib/cidr.ts';
import type { CarrierTools } from '../carrier.ts';
import { SeldomLog } from '../seldom-log.ts';
import { attach } from '../wire/socket.ts';
import type { Receiver, ReceiverEvents } from '../wire/wire-carrier.ts';
import type { SgipDialect } from './dialect.ts';
import { GatewaySession } from './gateway-session.ts';
import type { SgipPacket } from './layouts.ts';

export interface ListenerOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Networks of the gateway; others are not let in, since its password crosses the wire in the clear. */
  readonly allow: readonly string[];
  readonly login: { readonly name: string; readonly password: string };
  readonly dialect: SgipDialect;
  readonly tools: Pick<CarrierTools, 'log' | 'timers'>;
  readonly events: ReceiverEvents<SgipPacket>;
}

const MAX_SESSIONS = 10;
const RETRY_MS = 1_000;
const KEEP_ALIVE_MS = 60_000;

export class SgipListener implements Receiver {
  readonly #options: ListenerOptions;
  readonly #isAllowed: (address: string) => boolean;
  readonly #sessions = new Set<GatewaySession>();
  /** Anybody can open connections. */
  readonly #refusals: SeldomLog;
  #server: Server | undefined;
  #isClosing = false;
  /** Whether the last attempt to listen failed, as the log says. */
  #isFailing = false;
  #cancelRetry: (() => void) | undefined;
  #isEmpty: (() => void) | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#refusals = new SeldomLog(options.tools.timers);
    const allowed = createAddressSet(options.allow);
    this.#isAllowed = (address) => allowed.has(address);
    this.#open();
  }

  get isReceiving(): boolean {
    return this.#server?.listening === true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#cancelRetry?.();
    this.#server?.close();
    for (const session of [...this.#sessions]) session.leave();
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#isEmpty = resolve;
    });
  }

  #open(): void {
    const { listen, events, tools } = this.#options;
    const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    const server = createServer(options, (socket) => this.#accept(socket));
    server.on('listening', () => {
      if (this.#isFailing) tools.log.info(listen, 'listening for the gateway again');
      this.#isFailing = false;
      events.changed();
    });
    server.on('error', (error) => {
      // After an error of accepting it still listens, and would keep the address from the next one.
      server.close();
      // Another control may still have the address.
      if (!this.#isFailing) tools.log.warn({ ...listen, err: error }, 'cannot listen for the gateway; trying again');
      this.#isFailing = true;
      events.changed();
      events.failed(`cannot listen for the gateway: ${error.message}`);
      if (!this.#isClosing) this.#cancelRetry = tools.timers.after(RETRY_MS, () => this.#open());
    });
    server.listen(listen);
    this.#server = server;
  }

  #accept(socket: Socket): void {
    const { dialect, login, tools, events } = this.#options;
    const address = socket.remoteAddress ?? '';
    if (!this.#isAllowed(address) || this.#sessions.size >= MAX_SESSIONS) {
      socket.destroy();
      this.#refusals.note((refused) => {
        const facts = { address, refused, sessions: this.#sessions.size };
        tools.log.warn(facts, 'a connection to the listener of SGIP was refused');
      });
      return;
    }
    const transport = attach(socket, {
      received: (octets) => session.received(octets),
      closed: () => session.closed(),
    });
    const session: GatewaySession = new GatewaySession({
      ...{ dialect, login, transport, timers: tools.timers },
      events: {
        deliver: events.deliver,
        refused: () => tools.log.warn({ address }, 'a gateway gave a wrong name, password or type of login'),
        ended: () => {
          this.#sessions.delete(session);
          if (this.#sessions.size === 0) this.#isEmpty?.();
        },
      },
    });
    this.#sessions.add(session);
  }
}
