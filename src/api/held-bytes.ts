/**
 * What is held of calls that are not whole yet, on all connections together: whoever begins one needs no access token.
 * docs/decisions/0403
 */

/** For all calls together; and for each, which is not refused however much the others hold. */
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
