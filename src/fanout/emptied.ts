/** Chooses the streams that drop their kept media when those of one domain hold too much. Pure. docs/decisions/0483 */

export interface Holding {
  readonly domainId: number;
  readonly bytes: number;
}

/**
 * Returns the streams to be emptied so that no domain holds more of `maxBytes` than it leaves free. The largest stream
 * of the fullest domain comes first.
 */
export function chooseEmptied<T extends Holding>(holdings: readonly T[], maxBytes: number): readonly T[] {
  const domains = new Map<number, { bytes: number; readonly holdings: T[] }>();
  let total = 0;
  for (const holding of holdings) {
    const domain = domains.get(holding.domainId) ?? { bytes: 0, holdings: [] };
    domains.set(holding.domainId, domain);
    domain.bytes += holding.bytes;
    domain.holdings.push(holding);
    total += holding.bytes;
  }
  const emptied: T[] = [];
  for (;;) {
    const fullest = [...domains.values()].reduce((most, one) => (one.bytes > most.bytes ? one : most), NONE);
    if (fullest.bytes <= maxBytes - total) return emptied;
    fullest.holdings.sort((a, b) => a.bytes - b.bytes);
    const largest = fullest.holdings.pop();
    if (largest === undefined) return emptied;
    fullest.bytes -= largest.bytes;
    total -= largest.bytes;
    emptied.push(largest);
  }
}

const NONE: { bytes: number; readonly holdings: never[] } = { bytes: 0, holdings: [] };
