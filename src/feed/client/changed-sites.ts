/** The sites that a change of the feed affects. Pure. */
import type { PurgeSpec } from '#sites/purge.ts';
import type { ResourceChange } from '../wire/protocol.ts';

/**
 * Returns the names of the sites that a change affects. A deleted purge affects none: another one covers it, or nothing so
 * old remains.
 */
export function changedSites(change: ResourceChange): readonly string[] {
  if (change.kind === 'site') return [change.key];
  if (change.kind !== 'purge' || change.op === 'delete') return [];
  // `as`: an object's members are unknown values by their names.
  const { site } = Object(change.body) as Partial<Record<keyof PurgeSpec, unknown>>;
  return typeof site === 'string' ? [site] : [];
}
