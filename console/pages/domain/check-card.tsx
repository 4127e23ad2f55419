/** Whether the name points here, its certificate and its origin, as they are when somebody asks. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Facts } from '../../components/detail.tsx';
import { Notice } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import type { Tone } from '../../components/tone.ts';
import { problemOf, useAsk } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import { useReason } from '../domains/origin-answer.tsx';
import type { DomainData } from './domain.tsx';

type Check = DataOf<'domain.check'>;

export function CheckCard({ domain: { domain_id } }: { readonly domain: DomainData }) {
  const t = useText(domainViewsText);
  const check = useAsk('domain.check');
  return (
    <Card
      title={t.checkTitle}
      actions={
        <Button isBusy={check.isPending} onClick={() => check.mutate({ domain_id })}>
          {t.checkNow}
        </Button>
      }
    >
      {check.error && <Notice tone="bad">{problemOf(check.error).text}</Notice>}
      {check.data ? <CheckFacts check={check.data} /> : <p className="help">{t.checkHelp}</p>}
    </Card>
  );
}

export const DNS_TONES: Readonly<Record<Check['dns']['state'], Tone>> = {
  here: 'ok',
  elsewhere: 'warn',
  missing: 'warn',
  mixed: 'warn',
  unknown: 'idle',
};

const CERTIFICATE_TONES: Readonly<Record<Check['certificate']['state'], Tone>> = {
  off: 'idle',
  valid: 'ok',
  notYetValid: 'bad',
  expired: 'bad',
  otherName: 'bad',
  missing: 'bad',
};

function CheckFacts({ check: { dns, certificate, origin, seen_at } }: { readonly check: Check }) {
  const t = useText(domainViewsText);
  return (
    <Facts
      facts={[
        {
          title: t.dns,
          value: (
            <>
              <Badge tone={DNS_TONES[dns.state]}>{t.dnsStates[dns.state]}</Badge>
              <p className="help mono">{dns.found.join(', ')}</p>
            </>
          ),
        },
        {
          title: t.certificate,
          value: (
            <>
              <Badge tone={CERTIFICATE_TONES[certificate.state]}>{t.certificateStates[certificate.state]}</Badge>
              {certificate.expires_at > 0 && (
                <p className="help">
                  {t.endsAt} <Time at={certificate.expires_at * 1000} />
                </p>
              )}
            </>
          ),
        },
        { title: t.origin, value: <OriginFacts origin={origin} /> },
        { title: t.seen, value: seen_at === 0 ? t.notSeen : <Time at={seen_at * 1000} /> },
      ]}
    />
  );
}

function OriginFacts({ origin }: { readonly origin: Check['origin'] }) {
  const t = useText(domainViewsText);
  const { status, connect_ms, cacheable } = origin;
  const why = useReason(origin);
  if (status === 0) {
    return (
      <>
        <Badge tone="bad">{t.originSilent}</Badge>
        <p className="help">{why}</p>
      </>
    );
  }
  return (
    <>
      <Badge tone={status < 500 ? 'ok' : 'bad'}>{t.originAnswer(status, connect_ms)}</Badge>
      <p className="help">{cacheable === '1' ? t.cacheable : t.notCacheable(why)}</p>
    </>
  );
}
