/**
 * The sockets of all listeners, held by the supervisor: one set for each process that listens. When a process ends, its
 * successor listens on the same sockets and accepts the connections that wait there. docs/decisions/0570
 */
import { lookup } from 'node:dns/promises';
import { DOORS } from '#lib/listen.ts';
import { type BoundSocket, bindSocket } from '#lib/node-internals/bound-sockets.ts';
import type { InheritedListener } from './inherited-sockets.ts';
import type { ListenerName, PlannedListener, SocketSet } from './listeners.ts';

/** A process that listens, in all its generations. */
export interface Slot {
  readonly name: string;
  /** Kind of part. */
  readonly part: string;
}

export interface HeldSocketsOptions {
  readonly listeners: readonly PlannedListener[];
  readonly slots: readonly Slot[];
  /** Sockets that all slots share. */
  readonly inherited: ReadonlyMap<ListenerName, InheritedListener>;
  /** Whether sockets can be bound here; false: only inherited ones are held. */
  readonly canBind: boolean;
}

export class HeldSockets implements Disposable {
  readonly #options: HeldSocketsOptions;
  /** IP addresses of the listeners' hosts. */
  readonly #hosts: ReadonlyMap<ListenerName, string>;
  readonly #bound = new Map<string, ReadonlyMap<ListenerName, readonly BoundSocket[]>>();

  static async bind(options: HeldSocketsOptions): Promise<HeldSockets> {
    const hosts = await Promise.all(
      options.listeners.map(async ({ name, address }) => [name, (await lookup(address.host)).address] as const),
    );
    const held = new HeldSockets(options, new Map(hosts));
    for (const slot of options.slots) held.#bind(slot);
    return held;
  }

  private constructor(options: HeldSocketsOptions, hosts: ReadonlyMap<ListenerName, string>) {
    this.#options = options;
    this.#hosts = hosts;
  }

  /** Whether every process that listens gets its sockets from here, so that it can be replaced without a gap. */
  get isWhole(): boolean {
    return this.#options.slots.every((slot) =>
      this.#listenersOf(slot).every(({ name }) => (this.of(slot.name)[name] ?? []).length > 0),
    );
  }

  /** Returns the sockets of a slot. A listener without any is bound by the process itself. */
  of(name: string): SocketSet {
    const slot = this.#options.slots.find((one) => one.name === name);
    if (slot === undefined) return {};
    const entries = this.#listenersOf(slot).map((listener) => [
      listener.name,
      this.#descriptorsOf(slot, listener.name),
    ]);
    return Object.fromEntries(entries);
  }

  /**
   * Binds the slot's sockets again. Connections waiting in the old ones are reset, and until the next process listens
   * all new connections go to other slots.
   */
  renew(name: string): void {
    const slot = this.#options.slots.find((one) => one.name === name);
    if (slot === undefined) return;
    this.#release(slot);
    this.#bind(slot);
  }

  [Symbol.dispose](): void {
    for (const slot of this.#options.slots) this.#release(slot);
  }

  #listenersOf({ part }: Slot): readonly PlannedListener[] {
    return this.#options.listeners.filter((listener) => listener.part === part);
  }

  #descriptorsOf(slot: Slot, name: ListenerName): readonly number[] {
    const shared = this.#options.inherited.get(name)?.descriptors;
    // A process accepts one connection from each descriptor at a time, also if several are of one socket.
    if (shared !== undefined)
      return Array.from({ length: Math.max(DOORS, shared.length) }, (_, i) => shared[i % shared.length] ?? -1);
    return (this.#bound.get(slot.name)?.get(name) ?? []).map(({ descriptor }) => descriptor);
  }

  #bind(slot: Slot): void {
    if (!this.#options.canBind) return;
    const sets = new Map<ListenerName, readonly BoundSocket[]>();
    for (const { name, address } of this.#listenersOf(slot)) {
      const host = this.#hosts.get(name);
      if (host === undefined || this.#options.inherited.has(name)) continue;
      const sockets = bindAll(host, address.port);
      if (sockets !== undefined) sets.set(name, sockets);
    }
    this.#bound.set(slot.name, sets);
  }

  #release({ name }: Slot): void {
    for (const sockets of this.#bound.get(name)?.values() ?? []) for (const socket of sockets) socket[Symbol.dispose]();
    this.#bound.delete(name);
  }
}

/** Binds all sockets of one listener and slot, or none. */
function bindAll(host: string, port: number): readonly BoundSocket[] | undefined {
  const sockets: BoundSocket[] = [];
  while (sockets.length < DOORS) {
    const socket = bindSocket(host, port);
    if (socket === undefined) {
      for (const one of sockets) one[Symbol.dispose]();
      return undefined;
    }
    sockets.push(socket);
  }
  return sockets;
}
