/** Whether an edge takes a change: what it cannot compile is refused, and the rest goes on. */
import { compileSite } from '#sites/compile.ts';
import type { StoreChange } from './edge-file.ts';
import { MAX_REJECTION_ERROR_CHARS, type ResourceChange } from './protocol.ts';

type Put = Extract<ResourceChange, { readonly op: 'put' }>;

export function acceptChange(change: ResourceChange): StoreChange {
  if (change.op === 'put') return acceptPut(change);
  return { kind: 'delete', resource: change.kind, key: change.key, revision: change.revision };
}

/** A kind that this release does not know is kept as it is, for the release that does. */
export function acceptPut({ kind, key, revision, body }: Put): Exclude<StoreChange, { readonly kind: 'delete' }> {
  const error = kind === 'site' ? whyNoSite(key, body, revision) : undefined;
  if (error !== undefined) {
    return { kind: 'reject', resource: kind, key, revision, error: error.slice(0, MAX_REJECTION_ERROR_CHARS) };
  }
  return { kind: 'put', resource: kind, key, revision, body: JSON.stringify(body) };
}

function whyNoSite(key: string, body: unknown, revision: number): string | undefined {
  const result = compileSite(body, revision);
  if (result.kind === 'invalid') return result.problem;
  return result.site.name === key ? undefined : `its name is not its key ${key}`;
}
