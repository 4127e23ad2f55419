/** Hints on the wire. */
import type * as z from 'zod';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { HINT_DATA } from '#contract/operators/watch-operations.ts';
import { HINT_KINDS, type Hint, type Watcher } from '#model/hint.ts';

export interface WatchView extends Watcher {
  /** Streams of the same name share a limit. */
  readonly name: string;
  /** Where the stream before ended; empty: this one begins now. */
  readonly after: string;
}

export const READ_WATCH = {
  'event.watch': ({ kinds = [...HINT_KINDS], ids = [], after = '' }: RequestOf<'event.watch'>) => ({
    kinds,
    ids,
    after,
  }),
};

export const WRITE_WATCH = {
  'event.watch': ({ name, accountId, domainIds, kinds, ids, after }: WatchView): DataOf<'event.watch'> => ({
    watcher: name,
    account_id: accountId === undefined ? '' : String(accountId),
    domain_ids: domainIds?.map(String) ?? null,
    kinds: [...kinds],
    ids: [...ids],
    after,
  }),
};

/** Reads the watcher back from the data of an answer. */
export function readWatch({ watcher, account_id, domain_ids, ...asked }: DataOf<'event.watch'>): WatchView {
  return {
    ...asked,
    name: watcher,
    accountId: account_id === '' ? undefined : Number(account_id),
    domainIds: domain_ids?.map(Number),
  };
}

export function writeHint({ kind, id, revision, at, hint }: Hint): z.infer<typeof HINT_DATA> {
  return { kind, id, ...(revision !== undefined && { revision: String(revision) }), at, hint };
}
