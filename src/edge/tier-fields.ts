/**
 * The two fields between an edge and its parent: `Causeway-Tier` in requests, and `Causeway-Fresh` in answers. Strict:
 * both ends are edges of one fleet. Pure. docs/decisions/0731
 */
import { isIP } from 'node:net';

export const TIER_FIELD = 'Causeway-Tier';
export const FRESH_FIELD = 'Causeway-Fresh';

/** Tiers that a request may pass after the first edge. */
export const MAX_HOPS = 2;

/** What an edge says of a request that it passes to a parent. */
export interface TierRequest {
  /** Id of the edge that asks. */
  readonly from: string;
  /** 1 from the edge that the viewer asked. */
  readonly hops: number;
  readonly siteId: number;
  /**
   * Milliseconds: what was requested from an origin earlier than this counts as absent, since the edge has applied a
   * purge then, or an unsafe request has invalidated the object. `undefined`: nothing does.
   */
  readonly newerThanMs: number | undefined;
  /** The viewer's. */
  readonly scheme: 'http' | 'https';
  /** The viewer's address. */
  readonly client: string;
}

/** What a parent says of its answer. */
export interface TierFresh {
  /** Rest of the lifetime at the parent, in whole milliseconds. */
  readonly freshMs: number;
  /** Whether the edge that asked may store it. */
  readonly mayStore: boolean;
  readonly as: TierAs;
}

/** How a parent has answered; also a label of metrics. `error`: no origin has answered it. */
export type TierAs = 'hit' | 'miss' | 'stale' | 'error';

const TIER =
  /^v=1, from="([A-Za-z0-9._-]{1,63})", hops=([12]), site=([1-9]\d{0,9})(?:, newer=(\d{1,13}))?, scheme=(https?), client="([\da-fA-F:.]{2,45})"$/;
const FRESH = /^fresh=(\d{1,14}), store=([01]), as=(hit|miss|stale|error)$/;

export function formatTier({ from, hops, siteId, newerThanMs, scheme, client }: TierRequest): string {
  const newer = newerThanMs === undefined ? '' : `, newer=${newerThanMs}`;
  return `v=1, from="${from}", hops=${hops}, site=${siteId}${newer}, scheme=${scheme}, client="${client}"`;
}

/** Returns `undefined` if the text is not exactly what `formatTier` writes. */
export function parseTier(text: string): TierRequest | undefined {
  const [, from, hops, siteId, newer, scheme, client] = TIER.exec(text) ?? [];
  if (from === undefined || client === undefined || isIP(client) === 0) return undefined;
  return {
    from,
    hops: Number(hops),
    siteId: Number(siteId),
    newerThanMs: newer === undefined ? undefined : Number(newer),
    scheme: scheme === 'https' ? 'https' : 'http',
    client,
  };
}

export function formatFresh({ freshMs, mayStore, as }: TierFresh): string {
  return `fresh=${freshMs}, store=${mayStore ? 1 : 0}, as=${as}`;
}

/** Returns `undefined` if the text is not exactly what `formatFresh` writes. */
export function parseFresh(text: string): TierFresh | undefined {
  const [, freshMs, store, as] = FRESH.exec(text) ?? [];
  if (as !== 'hit' && as !== 'miss' && as !== 'stale' && as !== 'error') return undefined;
  return { freshMs: Number(freshMs), mayStore: store === '1', as };
}
