/** The leases that this process holds, as far as it can know without asking. */
import type { MachineClocks } from '#lib/clock.ts';

interface Instant {
  readonly wall: number;
  readonly steady: number;
}

/**
 * A lease is held from its renewal on for `holdMs`, less than the database grants, by both clocks of the machine: one of
 * them stands still while a machine is suspended.
 */
export class HeldLeases {
  readonly #clocks: MachineClocks;
  readonly #holdMs: number;
  /** Row of each lease and when it was asked for. */
  #held: ReadonlyMap<string, { readonly row: string; readonly since: Instant }> = new Map();

  constructor(clocks: MachineClocks, holdMs: number) {
    this.#clocks = clocks;
    this.#holdMs = holdMs;
  }

  /** The present instant, to be read before leases are renewed. */
  instant(): Instant {
    return { wall: this.#clocks.wall(), steady: this.#clocks.steady() };
  }

  /** Replaces the leases by those that the database has granted: the row of each. */
  set(granted: ReadonlyMap<string, string>, since: Instant): void {
    this.#held = new Map([...granted].map(([name, row]) => [name, { row, since }]));
  }

  /** Returns the row of a lease that is held now. */
  rowOf(name: string): string | undefined {
    const lease = this.#held.get(name);
    return lease !== undefined && this.#restOf(lease.since) > 0 ? lease.row : undefined;
  }

  get names(): readonly string[] {
    return [...this.#held.keys()].filter((name) => this.rowOf(name) !== undefined);
  }

  /** Milliseconds until the first of the leases ends here; `undefined` if none is held. */
  get restMs(): number | undefined {
    const rests = this.names.flatMap((name) => this.#held.get(name) ?? []).map(({ since }) => this.#restOf(since));
    return rests.length === 0 ? undefined : Math.min(...rests);
  }

  #restOf(since: Instant): number {
    const now = this.instant();
    return this.#holdMs - Math.max(now.wall - since.wall, now.steady - since.steady);
  }
}
