/** A certificate that the service obtains and renews: its steps, and the words of the authority. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Facts } from '../../components/detail.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import type { Tone } from '../../components/tone.ts';
import { problemOf, useChange, useRead } from '../../queries.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import type { DomainData } from './domain.tsx';

type CertificateRequest = DataOf<'config.getCertificateRequest'>;

const PENDING: readonly CertificateRequest['state'][] = ['pending', 'challenged'];
const MOVING_MS = 2000;

const TONES: Readonly<Record<CertificateRequest['state'], Tone>> = {
  none: 'idle',
  pending: 'busy',
  challenged: 'busy',
  issued: 'ok',
  failed: 'bad',
};

export function ObtainCard({ domain: { domain_id } }: { readonly domain: DomainData }) {
  const t = useText(domainViewsText);
  const mayWrite = useSession().access.includes('write');
  const request = useChange('config.requestCertificate');
  const load = useRead('config.getCertificateRequest', { domain_id }, { everyMs: whilePending });
  return (
    <Card title={t.obtainTitle}>
      <Loaded load={load}>
        {({ state, state_name, problem_name, detail, request_time, next_time }) => (
          <div className="stack">
            <p className="help">{t.obtainHelp}</p>
            {state !== 'none' && (
              <Facts
                facts={[
                  { title: t.state, value: <Badge tone={TONES[state]}>{state_name}</Badge> },
                  { title: t.requested, value: request_time },
                  { title: t.problem, value: problem_name === '' ? undefined : `${problem_name} ${detail}` },
                  { title: t.nextTime, value: next_time === '' ? undefined : next_time },
                ]}
              />
            )}
            {request.error && <Notice tone="bad">{problemOf(request.error).text}</Notice>}
            {mayWrite && !PENDING.includes(state) && (
              <div>
                <Button isBusy={request.isPending} onClick={() => request.mutate({ domain_id })}>
                  {t.obtain}
                </Button>
              </div>
            )}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

function whilePending(request: CertificateRequest | undefined): number | false {
  return request !== undefined && PENDING.includes(request.state) && MOVING_MS;
}
