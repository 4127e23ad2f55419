/** New purges of a site among those that it has: what the new ones cover goes, and too many become one for the whole. Pure. */
import { MAX_SITE_PURGES, type PurgeScope } from './purge.ts';

export interface MergedPurges {
  readonly added: readonly PurgeScope[];
  /** Keys of those that are covered now. An edge applies both in one step, so nothing is uncovered in between. */
  readonly removedKeys: readonly string[];
}

export function mergePurges(
  present: readonly (PurgeScope & { readonly key: string })[],
  asked: readonly PurgeScope[],
): MergedPurges {
  const added = asked.filter(
    (purge, index) =>
      !asked.some((other, at) => at !== index && covers(other, purge) && (at < index || !covers(purge, other))),
  );
  const removed = present.filter((purge) => added.some((other) => covers(other, purge)));
  if (present.length - removed.length + added.length <= MAX_SITE_PURGES) {
    return { added, removedKeys: removed.map(({ key }) => key) };
  }
  return { added: [{ kind: 'site', target: '' }], removedKeys: present.map(({ key }) => key) };
}

function covers(a: PurgeScope, b: PurgeScope): boolean {
  if (a.kind === 'site') return true;
  if (b.kind === 'site') return false;
  return a.kind === 'url' ? b.kind === 'url' && a.target === b.target : b.target.startsWith(a.target);
}
