/** The steps of a part on its way, each in a transaction as the engine takes it: claimed, answered, told of. */
import type { Db } from '#db/open.ts';
import { type Claim, claimParts } from '#db/tables/sms/claim.ts';
import { rematchOrphans } from '#db/tables/sms/orphans.ts';
import { type StoredReceipt, storeReceipts } from '#db/tables/sms/receipts.ts';
import { type PartResult, storeResults } from '#db/tables/sms/results.ts';
import type { ChargeAt, PartOutcome } from '#model/sms-part.ts';

export const NOW = Date.UTC(2026, 0, 31);
const LANES = [{ route: '', minTries: 0, maxTries: 4 }];

/** `after`: the account that had the last turn, of either priority. */
export async function claim(
  db: Db,
  { after = 0, ...options }: Partial<Omit<Claim, 'after'>> & { after?: number } = {},
) {
  const now = options.now ?? NOW;
  const request = {
    connectorId: 1,
    lanes: LANES,
    limit: 10,
    wholeMessages: false,
    after: [after, after],
    owner: 'a',
    leaseUntil: now + 60_000,
    now,
    closedApps: [],
    ...options,
  };
  return (await db.transaction((trx) => claimParts(trx, request))).parts;
}

export function store(
  db: Db,
  results: readonly (readonly [number, PartOutcome])[],
  now = NOW,
  chargeAt: ChargeAt = 'submit',
  owner = 'a',
) {
  const all = results.map(
    ([partId, outcome]): PartResult => ({
      partId,
      connectorId: 1,
      sentAt: now,
      endedAt: now,
      outcome,
    }),
  );
  return db.transaction((trx) => storeResults(trx, all, { owner, now, chargeAt }));
}

export function receive(db: Db, receipts: readonly Partial<StoredReceipt>[], now = NOW, chargeAt: ChargeAt = 'submit') {
  const all = receipts.map(
    (receipt): StoredReceipt => ({
      connectorId: 1,
      carrierKeys: [],
      destination: '+8613800138000',
      state: 'delivered',
      number: receipt.destination ?? '+8613800138000',
      error: '',
      word: '',
      raw: 'stat:DELIVRD',
      ...receipt,
    }),
  );
  return db.transaction((trx) => storeReceipts(trx, all, now, chargeAt));
}

/** Matches receipts as the sweeper does; `answersAfterMs`: how long after the receipt an answer may bring an id. */
export function rematch(db: Db, now = NOW, chargeAt: ChargeAt = 'submit', answersAfterMs = 0) {
  const options = { since: now - 3_600_000, ambiguousSince: now - 3_600_000, answersAfterMs: () => answersAfterMs };
  return db.transaction((trx) => rematchOrphans(trx, { ...options, now, chargeAt }));
}

/** Returns the reference as SMPP's user_message_reference has it. */
export function referenceTo(partId: number) {
  return { value: partId % 0x10000, bits: 16 };
}

export function accepted(carrierId: string): PartOutcome {
  return { kind: 'accepted', carrierId, keys: [carrierId] };
}
