/** Certificates that end, and those that cannot be obtained. */
import type { Db } from '#db/open.ts';
import { type EndingCertificate, listEndingCertificates } from '#db/tables/certificate-ends.ts';
import { listFailingOrders } from '#db/tables/failing-orders.ts';
import { DAY_MS } from '#lib/durations.ts';
import type { Observation } from '#model/condition.ts';
import type { Observer } from './observer.ts';

/** Days before the end of a certificate that are told, each once. */
const THRESHOLD_DAYS = [14, 7, 3, 1];
/** A certificate is renewed in its last third: only thresholds within that are told. */
const RENEWED_SHARE = 1 / 3;
const MAX_DETAIL_CHARS = 200;
/** Names in an event; a certificate may have hundreds. */
const MAX_NAMES = 5;

export function observeCertificates(db: Db, everyMs: number): Observer {
  return {
    kinds: ['certificate', 'expired', 'order'],
    owner: '',
    everyMs,
    async observe(now) {
      const ending = await listEndingCertificates(db.query, now + Math.max(...THRESHOLD_DAYS) * DAY_MS);
      const orders = await listFailingOrders(db.query);
      return [
        ...ending.flatMap((certificate) => judgeEnd(certificate, now)),
        ...orders.map(
          ({ domainId, accountId, name, problem, detail, failures }): Observation => ({
            kind: 'order',
            key: String(domainId),
            accountId,
            target: { kind: 'domain', id: String(domainId), name },
            level: 0,
            data: { problem, detail: detail.slice(0, MAX_DETAIL_CHARS), failures },
          }),
        ),
      ];
    },
  };
}

/** Returns one condition, or none while there is time to renew. Pure. */
export function judgeEnd(
  { key, accountId, names, startsAt, endsAt }: EndingCertificate,
  now: number,
): readonly Observation[] {
  const told = THRESHOLD_DAYS.filter((days) => days * DAY_MS <= (endsAt - startsAt) * RENEWED_SHARE);
  const passed = told.filter((days) => endsAt - now <= days * DAY_MS);
  const hasEnded = endsAt <= now;
  if (!hasEnded && passed.length === 0) return [];
  return [
    {
      kind: hasEnded ? 'expired' : 'certificate',
      key,
      accountId,
      target: { kind: 'certificate', id: key, name: names[0] ?? '' },
      level: hasEnded ? 0 : passed.length,
      data: {
        days: passed.at(-1) ?? 0,
        names: names.slice(0, MAX_NAMES).join(', '),
        ends_at: Math.floor(endsAt / 1000),
      },
    },
  ];
}
