/**
 * Determines a request's client address: the connection's, or the one that trusted proxies name in X-Forwarded-For.
 * Pure.
 */
import { type AddressSet, plainAddress } from './cidr.ts';

/**
 * Returns the last address of the list that is not a trusted proxy's, or the first one if all are trusted. Returns the
 * connection's address if that entry is not an address: otherwise a client could write anything there and pose as
 * another client each time.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trusted: AddressSet): string {
  if (forwardedFor === undefined || !trusted.has(peer)) return peer;
  let client = peer;
  for (const entry of forwardedFor.split(',').reverse()) {
    const address = parseForwarded(entry.trim());
    if (address === undefined) return peer;
    client = address;
    if (!trusted.has(address)) return address;
  }
  return client;
}

/**
 * Parses an address as proxies write it: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]`,
 * `[2001:db8::1]:4711`.
 */
function parseForwarded(entry: string): string | undefined {
  const [, v6, v4 = entry] = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/.exec(entry) ?? [];
  if (v6 !== undefined) return v6.includes(':') ? plainAddress(v6) : undefined;
  return plainAddress(v4);
}
