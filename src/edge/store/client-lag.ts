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
  let total = 0;
  return {
    open: () => {
      let own = 0;
      const note = (queuedBytes: number): boolean => {
        total += queuedBytes - own;
        own = queuedBytes;
        return total <= maxBytes;
      };
      return { note, close: () => void note(0) };
    },
  };
}
