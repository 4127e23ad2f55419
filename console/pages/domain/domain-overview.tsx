/** A domain at a glance: its traffic, what it is, and whether it works. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Facts } from '../../components/detail.tsx';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import { lastSeconds } from '../overview/time-range.ts';
import { Traffic } from '../overview/traffic.tsx';
import { CheckCard } from './check-card.tsx';
import type { DomainData } from './domain.tsx';
import { RemarkDialog } from './remark-dialog.tsx';

const DAY_SECONDS = 86_400;

export function DomainOverview({ domain }: { readonly domain: DomainData }) {
  const t = useText(domainViewsText);
  const mayWrite = useSession().access.includes('write');
  const [isChanging, setChanging] = useState(false);
  const range = lastSeconds(DAY_SECONDS, Date.now());
  return (
    <>
      <Traffic range={range} domainId={domain.domain_id} />
      <div className="columns">
        <Card title={t.facts} actions={mayWrite && <Button onClick={() => setChanging(true)}>{t.changeRemark}</Button>}>
          <DomainFacts domain={domain} />
        </Card>
        <CheckCard domain={domain} />
      </div>
      {isChanging && <RemarkDialog domain={domain} onClose={() => setChanging(false)} />}
    </>
  );
}

function DomainFacts({ domain }: { readonly domain: DomainData }) {
  const t = useText(domainViewsText);
  return (
    <Facts
      facts={[
        { title: t.type, value: domain.cdn_type },
        { title: t.alias, value: <span className="mono">{domain.cname}</span> },
        {
          title: t.origin,
          value: <span className="mono">{[...domain.origin, ...domain.backup].join(', ') || '—'}</span>,
        },
        { title: t.added, value: domain.create_time },
        { title: t.revision, value: domain.revision },
        { title: t.remark, value: domain.remark === '' ? undefined : domain.remark },
      ]}
    />
  );
}
