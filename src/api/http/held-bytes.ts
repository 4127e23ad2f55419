/**
 * Memory for incomplete calls on all connections together: beginning a call needs no access token. docs/decisions/0403
 */

/** Limits for all calls together, and for each call, which is never refused whatever the others hold. */
export interface HeldLimits {
  readonly inAllBytes: number;
  readonly freeBytes: number;
}

export class HeldBytes {
  readonly #limits: HeldLimits;
  #inAllBytes = 0;

  constructor(limits: HeldLimits) {
    this.#limits = limits;
  }

  /** A call that held `before` holds `now`; 0: no more. False: that is too much. */
  change(before: number, now: number): boolean {
    this.#inAllBytes += now - before;
    return now <= this.#limits.freeBytes || this.#inAllBytes <= this.#limits.inAllBytes;
  }
}
