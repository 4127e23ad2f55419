/**
 * The clock of a database server, as estimated in this process: a reading of it, and the time that has passed since by
 * this machine's clocks. docs/decisions/0576
 */
import type { Clock, MachineClocks } from '#lib/clock.ts';

interface Reading {
  /** The server's clock, epoch milliseconds. */
  readonly at: number;
  readonly wall: number;
  readonly steady: number;
}

/** Difference between this machine's two clocks since the last reading that means a step, or a suspended machine. */
const STEP_MS = 1_000;

export class DatabaseClock {
  readonly #clocks: MachineClocks;
  #last: Reading;

  /** Begins as this machine's own clock. */
  constructor(clocks: MachineClocks) {
    this.#clocks = clocks;
    const wall = clocks.wall();
    this.#last = { at: wall, wall, steady: clocks.steady() };
  }

  /** Returns the server's clock in whole epoch milliseconds. */
  readonly now: Clock = () => {
    const { wall, steady } = this.#clocks;
    return Math.round(estimate(this.#last, { wall: wall(), steady: steady() }));
  };

  /**
   * Asks the server for its clock. Returns by how many milliseconds this machine's clock is ahead of it; negative if it
   * is behind. Rejects if `ask` does.
   */
  async compare(ask: () => Promise<number>): Promise<number> {
    const { wall, steady } = this.#clocks;
    const asked = steady();
    const at = await ask();
    const now = { wall: wall(), steady: steady() };
    const latest = at + (now.steady - asked);
    const before = estimate(this.#last, now);
    const middle = (at + latest) / 2;
    // Inside the bounds the former estimate is as good, and does not jump.
    const isStepped = Math.abs(before - middle) > STEP_MS;
    this.#last = { ...now, at: isStepped ? middle : Math.min(Math.max(before, at), latest) };
    return now.wall - this.#last.at;
  }
}

/** The later of both clocks counts after a step of the wall clock, or if the machine was suspended: leases are over. */
function estimate(last: Reading, now: Omit<Reading, 'at'>): number {
  const bySteady = last.at + (now.steady - last.steady);
  const byWall = last.at + (now.wall - last.wall);
  return Math.abs(byWall - bySteady) <= STEP_MS ? bySteady : Math.max(byWall, bySteady);
}
