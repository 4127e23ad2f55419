/** The sites, and lists that sites share, which a change of the feed affects. Pure. */
import { ADDRESS_LIST_KIND } from '#model/address-list.ts';
import type { PurgeSpec } from '#sites/purge.ts';
import type { ResourceChange } from '../wire/protocol.ts';

/**
 * Returns the names of the sites that a change affects, or the key of a list of addresses. A deleted purge affects none: another one covers it, or nothing so
 * old remains.
 */
export function changedSites(change: ResourceChange): readonly string[] {
  if (change.kind === 'site' || change.kind === ADDRESS_LIST_KIND) return [change.key];
  if (change.kind !== 'purge' || change.op === 'delete') return [];
  // `as`: an object's members are unknown values by their names.
  const { site } = Object(change.body) as Partial<Record<keyof PurgeSpec, unknown>>;
  return typeof site === 'string' ? [site] : [];
}
