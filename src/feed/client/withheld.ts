/**
 * Secrets that control withholds from an edge of which there are two copies. The edge rejects them, and sites that need
 * them, so that their previous versions stay in force; everything else it applies. docs/decisions/0572
 */
import type { SiteSpec } from '#sites/spec.ts';
import type { StoreChange } from '../store/edge-file.ts';
import type { EdgeStore } from '../store/edge-store.ts';
import { type ResourceChange, WITHHELD } from '../wire/protocol.ts';
import { acceptChange } from './accept.ts';

/**
 * Returns a function that accepts or rejects changes, which are to be passed in order. `isFresh`: they are a whole set, so
 * what was withheld before does not matter.
 */
export function createAcceptor(
  store: Pick<EdgeStore, 'hasWithheld' | 'isWithheld' | 'getCertificate'>,
  { isFresh }: { readonly isFresh: boolean },
): (changes: readonly ResourceChange[]) => readonly StoreChange[] {
  /** Whether the certificate with this key came without its secret; absent: it has not come. */
  const cameWithout = new Map<string, boolean>();
  let isAnyWithheld = !isFresh && store.hasWithheld();
  const isLacking = (key: string | undefined): boolean => {
    if (key === undefined) return false;
    const isWithheld = cameWithout.get(key) ?? (!isFresh && store.isWithheld('certificate', key));
    return isWithheld && store.getCertificate(key) === undefined;
  };
  const withhold = (change: StoreChange): StoreChange => {
    const { resource, key, revision } = change;
    const rejected = { kind: 'reject', resource, key, revision, error: WITHHELD } as const;
    // The site that ceased to use it may be one that is withheld.
    if (change.kind === 'delete') return resource === 'certificate' && !isFresh ? rejected : change;
    if (change.kind === 'reject' || resource !== 'site') return change;
    // `as`: it has just been compiled.
    const { tls } = JSON.parse(change.body) as SiteSpec;
    return isLacking(tls?.certificate) || isLacking(tls?.secondCertificate) ? rejected : change;
  };
  return (changes) => {
    const accepted = changes.map(acceptChange);
    for (const change of accepted) {
      if (change.resource !== 'certificate') continue;
      const isWithheld = change.kind === 'reject' && change.error === WITHHELD;
      cameWithout.set(change.key, isWithheld);
      isAnyWithheld ||= isWithheld;
    }
    return isAnyWithheld ? accepted.map(withhold) : accepted;
  };
}
