/**
 * One session that a gateway opens with us, from its bind to its unbind, over any transport. Only an impossible length
 * ends it, never the content of a packet. docs/decisions/0759
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Timers } from '#lib/timers.ts';
import { FrameReader } from '../wire/frames.ts';
import type { Transport } from '../wire/session.ts';
import { answer, SGIP_FRAMES, type SgipDialect } from './dialect.ts';
import type { SgipPacket, SgipPacketOf } from './layouts.ts';
import { SGIP_RESULT } from './results.ts';

export interface GatewaySessionOptions {
  readonly dialect: SgipDialect;
  /** That the gateway gives us. */
  readonly login: { readonly name: string; readonly password: string };
  readonly timers: Timers;
  readonly transport: Transport;
  readonly events: GatewaySessionEvents;
}

interface GatewaySessionEvents {
  /** Returns whether the delivery is stored. Never rejects. */
  deliver(packet: SgipPacket, frame: Buffer): Promise<boolean>;
  /** Notified when the gateway has given a wrong name, password or type of login. */
  refused(): void;
  /** Notified once, as the last event. */
  ended(): void;
}

/** Time that a gateway has to bind. */
const BIND_MS = 30_000;
/** A session without a packet for so long is closed: the gateway opens another one when it has something to say. */
const IDLE_MS = 10 * 60_000;
/** Time for storing and answering deliveries while the session is left. */
const LAST_ANSWERS_MS = 5_000;
/** Types of login: most gateways give the second one, which is meant for them; some give the customer's. */
const LOGIN_TYPES: readonly number[] = [1, 2];
/**
 * Backpressure: reading stops while so many deliveries of the session are being stored. Those that were read before are
 * stored too, since some gateways never repeat an unanswered delivery.
 */
const MAX_DELIVERIES = 100;

type Phase = 'binding' | 'bound' | 'leaving' | 'ended';

export class GatewaySession {
  readonly #options: GatewaySessionOptions;
  readonly #frames = new FrameReader(SGIP_FRAMES);
  #phase: Phase = 'binding';
  #deliveries = 0;
  /** The gateway's unbind, which is answered last: deliveries that have no answer then are sent again. */
  #bye: SgipPacket | undefined;
  #cancel: () => void;

  constructor(options: GatewaySessionOptions) {
    this.#options = options;
    this.#cancel = options.timers.after(BIND_MS, () => this.#end());
  }

  /** Called with octets from the gateway. */
  received(octets: Buffer): void {
    if (this.#phase === 'ended') return;
    const read = this.#frames.push(octets);
    for (const frame of read.frames) this.#take(frame);
    if (read.kind === 'malformed') this.#end();
  }

  /** Called when the connection is closed. */
  closed(): void {
    this.#end();
  }

  /** Takes nothing more; what is being stored is still answered. */
  leave(): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'leaving';
    this.#cancel();
    this.#cancel = this.#options.timers.after(LAST_ANSWERS_MS, () => this.#end());
    this.#endWhenStored();
  }

  #take(frame: Buffer): void {
    const { dialect } = this.#options;
    const packet = dialect.decode(frame);
    if (this.#phase === 'binding') {
      if (packet.command === 'bind') this.#bind(packet);
      return;
    }
    if (this.#phase !== 'bound') return;
    this.#watch();
    const kind = dialect.kindOf(packet);
    // Never rejects.
    if (kind === 'delivery') void this.#deliver(packet, frame);
    else if (kind === 'bye') {
      this.#bye = packet;
      this.leave();
    } else if (kind !== 'answer') this.#write(dialect.answerTo(packet, 'done'));
  }

  #bind({ fields, sequence }: SgipPacketOf<'bind'>): void {
    const { loginName, loginPassword, loginType } = fields;
    const { name, password } = this.#options.login;
    // Both are compared, so that the time says nothing about either.
    const isKnown = [isSame(loginName, name), isSame(loginPassword, password)].every(Boolean);
    const isRight = isKnown && LOGIN_TYPES.includes(loginType);
    this.#write(answer('bindResp', sequence, isRight ? SGIP_RESULT.ok : SGIP_RESULT.wrongLogin));
    if (isRight) {
      this.#phase = 'bound';
      this.#watch();
      return;
    }
    this.#options.events.refused();
    this.#end();
  }

  async #deliver(packet: SgipPacket, frame: Buffer): Promise<void> {
    const { dialect, events, transport } = this.#options;
    this.#deliveries += 1;
    if (this.#deliveries === MAX_DELIVERIES) transport.hold(true);
    const isStored = await events.deliver(packet, frame);
    if (this.#deliveries === MAX_DELIVERIES) transport.hold(false);
    this.#deliveries -= 1;
    this.#write(dialect.answerTo(packet, isStored ? 'done' : 'again'));
    this.#endWhenStored();
  }

  #endWhenStored(): void {
    if (this.#phase !== 'leaving' || this.#deliveries > 0) return;
    if (this.#bye !== undefined) this.#write(this.#options.dialect.answerTo(this.#bye, 'done'));
    this.#end();
  }

  #watch(): void {
    this.#cancel();
    this.#cancel = this.#options.timers.after(IDLE_MS, () => this.#end());
  }

  #write(octets: Buffer | undefined): void {
    if (octets !== undefined && this.#phase !== 'ended') this.#options.transport.write(octets);
  }

  #end(): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#cancel();
    this.#options.transport.end();
    this.#options.events.ended();
  }
}

/** Compares in a time that does not depend on the texts. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((it) => createHash('sha256').update(it).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
