/** When the certificates that domains use end, over all accounts. */
import { DAY_MS } from '#lib/durations.ts';
import type { Executor } from '../schema/schema.ts';

/** A certificate that a domain uses, and when it ends. */
export interface EndingCertificate {
  readonly key: string;
  readonly accountId: number;
  readonly names: readonly string[];
  readonly startsAt: number;
  readonly endsAt: number;
}

/** Limit of certificates in a list of those that end. */
const MAX_ENDING = 1000;

/** Lists certificates in use, of all accounts, that end before `until`: the first to end first, at most 1000. */
export async function listEndingCertificates(x: Executor, until: number): Promise<readonly EndingCertificate[]> {
  const rows = await x
    .selectFrom('certificate')
    .select(['key', 'account_id', 'names', 'valid_from', 'valid_to'])
    .where('valid_to', '<', until)
    .where('key', 'in', (e) => e.selectFrom('certificate_use').select('certificate_key'))
    .orderBy('valid_to')
    .orderBy('key')
    .limit(MAX_ENDING)
    .execute();
  return rows.map(({ key, account_id, names, valid_from, valid_to }) => {
    return { key, accountId: account_id, names: JSON.parse(names), startsAt: valid_from, endsAt: valid_to };
  });
}

/** Spans in which certificates end, the nearest first: days from now; `Infinity` takes the rest. */
const SPANS = { expired: 0, '7d': 7, '14d': 14, '30d': 30, later: Number.POSITIVE_INFINITY } as const;
type EndSpan = keyof typeof SPANS;

export interface CertificateEnds {
  /** Number of certificates in use by when they end, each counted once. */
  readonly counts: ReadonlyMap<EndSpan, number>;
  /** End of the first one; `undefined` if no domain uses a certificate. */
  readonly firstEndAt: number | undefined;
}

export async function countCertificateEnds(x: Executor, now: number): Promise<CertificateEnds> {
  const bounds = Object.entries(SPANS).map(([, days]) => now + days * DAY_MS);
  const used = x
    .selectFrom('certificate')
    .where('key', 'in', (e) => e.selectFrom('certificate_use').select('certificate_key'));
  const { first, all, ...before } = await used
    .select((e) => [
      e.fn.min<number | null>('valid_to').as('first'),
      e.fn.countAll<number>().as('all'),
      ...bounds
        .filter(Number.isFinite)
        .map((bound, n) =>
          e.fn.sum<number | null>(e.case().when('valid_to', '<', bound).then(1).else(0).end()).as(`n${n}`),
        ),
    ])
    .executeTakeFirstOrThrow();
  // Counts up to each bound; the difference to the one before is the span's own.
  const cumulative = [...Object.values(before).map((count) => Number(count ?? 0)), Number(all)];
  const spans = Object.keys(SPANS) as EndSpan[]; // `as`: its own keys
  return {
    counts: new Map(spans.map((span, n) => [span, (cumulative[n] ?? 0) - (cumulative[n - 1] ?? 0)])),
    firstEndAt: first === null ? undefined : Number(first),
  };
}
