/** What of a domain somebody should look at. Pure. */
import type { DataOf } from '#contract/operations.ts';
import type { Tone } from '../../components/tone.ts';

export type BriefDomain = DataOf<'domain.listBrief'>['list'][number];

const DAY_MS = 86_400_000;
const SOON_DAYS = 21;
const URGENT_DAYS = 7;

interface Matter {
  readonly kind: 'state' | 'certificate';
  readonly tone: Tone;
  /** Days until the certificate ends. */
  readonly days: number;
}

/** A domain that its owner has closed is as it should be. */
export function attentionOf(
  { domain_status, ssl_ends_at }: Pick<BriefDomain, 'domain_status' | 'ssl_ends_at'>,
  now: number,
): readonly Matter[] {
  const certificate = certificateDays(ssl_ends_at, now);
  const isRefused = ['5', '6'].includes(String(domain_status));
  return [
    ...(isRefused ? [{ kind: 'state', tone: 'bad', days: 0 } as const] : []),
    ...(certificate && certificate.tone !== 'ok' ? [{ kind: 'certificate', ...certificate } as const] : []),
  ];
}

/** Days until a certificate ends, and how urgent that is; `endsAt` is 0 where there is none. */
export function certificateDays(
  endsAt: number,
  now: number,
): { readonly days: number; readonly tone: Tone } | undefined {
  if (endsAt === 0) return undefined;
  const days = Math.floor((endsAt - now) / DAY_MS);
  if (days >= SOON_DAYS) return { days, tone: 'ok' };
  return { days, tone: days < URGENT_DAYS ? 'bad' : 'warn' };
}
