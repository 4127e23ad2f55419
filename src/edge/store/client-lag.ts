/**
 * Bounds how far all clients together may fall behind the bodies that are being stored: bytes that they have not taken
 * use memory.
 */

export interface LagBudget {
  open(): ClientLag;
}

export interface ClientLag {
  /**
   * Records the bytes that the client has not taken. Returns false if all clients together exceed the budget: wait for
   * this client.
   */
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
