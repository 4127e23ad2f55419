/** Control's side of view keys: seals secrets for the edges of a group when they are sent, never in the database. */
import type { KeyObject } from 'node:crypto';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { CERTIFICATE_KIND } from '#db/tables/certificates.ts';
import { findSuspects } from '#db/tables/fleet/enrolled-edges.ts';
import type { ResourceRow } from '#db/tables/resources.ts';
import { findViewKeyInUse, makeViewKey, openViewKeys, type ViewKey } from '#db/tables/view-keys.ts';
import type { Clock } from '#lib/clock.ts';
import { Lru } from '#lib/lru.ts';
import { SINK_KIND } from '#model/line-sink.ts';
import { LIVE_KEYS_KIND } from '#model/live-stream.ts';
import type { CertificatePair } from '#sites/table.ts';
import type { SealedBody, UnopenedSecret } from '../wire/protocol.ts';
import { type SealedViewKey, sealUnder, sealViewKey } from '../wire/view-key-box.ts';
import type { UnsealBody } from './open-secrets.ts';
import type { Peer } from './peer.ts';

/** Keys kept in memory. */
const MAX_KEPT = 1000;

/** Formats bodies for one group. */
export interface GroupBodies {
  readonly format: UnsealBody;
  /** Key that secrets are sealed with; absent if this control cannot open secrets. */
  readonly key: ViewKey | undefined;
}

export interface ViewSealer {
  /** Reads which key is in use, and makes one if there is none. */
  bodiesFor(group: string): Promise<GroupBodies>;
  /** Whether the key is still the one in use. */
  isInUse(group: string, id: string | undefined): Promise<boolean>;
  /** Ids of the edges that get no keys, because there are two copies of them. */
  suspects(): Promise<ReadonlySet<string>>;
  /** Seals keys of the peer's group to the peer; unknown ids are left out. */
  sealTo(peer: Peer, sealKey: KeyObject, ids: readonly string[]): Promise<readonly SealedViewKey[]>;
}

export interface ViewSealerOptions {
  readonly db: Db;
  readonly ring: Keyring | undefined;
  /** Opens the secrets of the database. */
  readonly openBody: UnsealBody;
  readonly clock: Clock;
}

const SECRET_KINDS: readonly string[] = [CERTIFICATE_KIND, LIVE_KEYS_KIND, SINK_KIND];

/** Whether the row has a secret, which needs a view key on its way to another machine. */
export function hasSecret({ kind, isDeleted }: ResourceRow): boolean {
  return !isDeleted && SECRET_KINDS.includes(kind);
}

export function createViewSealer({ db, ring, openBody, clock }: ViewSealerOptions): ViewSealer {
  const opened = new Lru<string, ViewKey>({ maxWeight: MAX_KEPT });
  const open = async (group: string, ids: readonly string[]): Promise<readonly ViewKey[]> => {
    if (ring === undefined) return [];
    const lacking = ids.filter((id) => opened.get(id) === undefined);
    if (lacking.length > 0)
      for (const key of await openViewKeys(db.query, ring, { group, ids: lacking })) opened.set(key.id, key);
    return ids.flatMap((id) => opened.get(id) ?? []);
  };
  return {
    async bodiesFor(group) {
      if (ring === undefined) return { format: (row) => (hasSecret(row) ? NO_KEY : openBody(row)), key: undefined };
      const now = clock();
      const id =
        (await findViewKeyInUse(db.query, group, now)) ??
        (await db.transaction((trx) => makeViewKey(trx, ring, { group, now })));
      const [key] = await open(group, [id]);
      if (key === undefined) throw new Error(`the view key ${id} is missing`);
      return { format: (row) => formatSealed(row, openBody(row), key), key };
    },
    isInUse: async (group, id) => ring === undefined || (await findViewKeyInUse(db.query, group, clock())) === id,
    suspects: () => findSuspects(db.query),
    async sealTo(peer, sealKey, ids) {
      const own = ids.filter((id) => id.startsWith(`${peer.group}.`));
      return (await open(peer.group, own)).map((key) => sealViewKey(key, sealKey, peer));
    },
  };
}

const NO_KEY = JSON.stringify({ problem: 'control has no key ring' } satisfies UnopenedSecret);

/** A secret that could not be opened has its reason as its body, and no secret. */
function formatSealed(row: ResourceRow, body: string, { id, key }: ViewKey): string {
  if (!hasSecret(row)) return body;
  // `as`: made by `open-secrets.ts`.
  const opened = JSON.parse(body) as Partial<UnopenedSecret> & Partial<CertificatePair>;
  if (opened.problem !== undefined) return body;
  const place = { kind: row.kind, key: row.key, revision: row.revision, vk: id };
  if (row.kind !== CERTIFICATE_KIND)
    return JSON.stringify({ vk: id, sealed: sealUnder(key, place, body) } satisfies SealedBody);
  const sealed = sealUnder(key, place, opened.key ?? '');
  return JSON.stringify({ certificate: opened.certificate ?? '', vk: id, sealed } satisfies SealedBody);
}
