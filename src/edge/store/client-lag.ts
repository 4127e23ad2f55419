/** How far all clients together may fall behind the bodies that are being stored: what they have not taken is memory. */

export interface LagBudget {
  open(): ClientLag;
}

export interface ClientLag {
  /** Notes what the client has not taken; false when that is too much for all of them: wait for the client. */
  note(queuedBytes: number): boolean;
  close(): void;
}

export function createLagBudget(maxBytes: number): LagBudget {
  const all = { bytes: 0, maxBytes };
  return { open: () => new OpenLag(all) };
}

class OpenLag implements ClientLag {
  readonly #all: { bytes: number; readonly maxBytes: number };
  #own = 0;

  constructor(all: { bytes: number; readonly maxBytes: number }) {
    this.#all = all;
  }

  note(queuedBytes: number): boolean {
    const all = this.#all;
    all.bytes += queuedBytes - this.#own;
    this.#own = queuedBytes;
    return all.bytes <= all.maxBytes;
  }

  close(): void {
    this.note(0);
  }
}
