/** Marks and keys of live streams, written and published in one transaction. */
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import type { Schema } from '#db/schema/schema.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { unchanged } from '#db/tables/audit.ts';
import type { OwnDomains } from '#db/tables/domain-filter.ts';
import { findDomainToChange } from '#db/tables/domains.ts';
import { readLiveKeys, type StoredLiveKeys, saveLiveKeys } from '#db/tables/live/keys.ts';
import { MAX_FORBIDDEN_STREAMS, type Marked } from '#db/tables/live/streams.ts';
import { type Change, publish } from '#db/tables/resources.ts';
import type { Domain } from '#model/domain.ts';
import { MAX_LIVE_KEYS } from '#sites/live.ts';

export interface AskedDomain extends OwnDomains {
  readonly domainId: number;
}

export interface AskedStream extends AskedDomain {
  readonly app: string;
  readonly stream: string;
}

/** Throws `ServiceError` for what cannot be marked. */
export async function changeMark(
  db: Db,
  asked: AskedStream,
  now: number,
  mark: (trx: Transaction<Schema>) => Promise<Marked>,
): Promise<void> {
  await db.transaction(async (trx) => {
    await holdLiveDomain(trx, asked);
    const marked = await mark(trx);
    if (marked.kind === 'changes') {
      if (marked.changes.length > 0) await publish(trx, marked.changes, now);
      return;
    }
    const { app, stream } = asked;
    if (marked.kind === 'limit') throw new ServiceError('liveForbidLimit', { limit: MAX_FORBIDDEN_STREAMS });
    throw new ServiceError(marked.kind === 'missing' ? 'liveStreamNotFound' : 'liveNotOnAir', { app, stream });
  });
}

/** Changes keys, and returns those in force then. `change` may return its argument for no change. */
export async function changeKeys(
  db: Db,
  ring: Keyring,
  asked: AskedDomain & { readonly now: number },
  change: (keys: StoredLiveKeys) => StoredLiveKeys,
): Promise<StoredLiveKeys> {
  const { domainId, now } = asked;
  return await db.transaction(async (trx) => {
    await holdLiveDomain(trx, asked);
    const before = await readLiveKeys(trx, ring, domainId);
    const keys = change(before);
    if (keys === before) return unchanged(trx, keys);
    await publish(trx, [await saveLiveKeys(trx, ring, { domainId, keys, now })], now);
    return keys;
  });
}

/**
 * Renews the keys of a domain that gets another owner, so that the previous one knows none that works. Those of signed
 * URLs, which owners choose, are dropped.
 */
export async function renewKeys(
  trx: Transaction<Schema>,
  ring: Keyring,
  domainId: number,
  now: number,
): Promise<readonly Change[]> {
  const before = await readLiveKeys(trx, ring, domainId);
  const { publish, play, urls = [] } = before;
  if (publish.length + play.length + urls.length === 0) return [];
  const renew = (keys: readonly string[]) => (keys.length === 0 ? [] : [mintLiveKey()]);
  const keys = { publish: renew(publish), play: renew(play) };
  return [await saveLiveKeys(trx, ring, { domainId, keys, now })];
}

/** The new key comes first, the primary one becomes the secondary. */
export function rotate(keys: readonly string[], key = mintLiveKey()): readonly string[] {
  return keys[0] === key ? keys : [key, ...keys].slice(0, MAX_LIVE_KEYS);
}

function mintLiveKey(): string {
  return randomBytes(KEY_BYTES).toString('hex');
}

const KEY_BYTES = 16;

async function holdLiveDomain(trx: Transaction<Schema>, asked: AskedDomain): Promise<void> {
  const { domainId } = asked;
  const domain = await findDomainToChange(trx, { own: asked, id: domainId });
  if (domain === undefined) throw new ServiceError('domainNotFound', { domainId });
  refuseNotLive(domain);
}

export function refuseNotLive({ id, type }: Domain): void {
  if (type !== 'live') throw new ServiceError('domainNotLive', { domainId: id });
}
