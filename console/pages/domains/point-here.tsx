/** The record that points a domain here, and a list that ticks itself as it comes true. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Card } from '../../components/card.tsx';
import { CopyBox, CopyButton } from '../../components/copy.tsx';
import { Facts } from '../../components/detail.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { useRead } from '../../queries.ts';
import { addDomainText } from '../../text/add-domain.ts';
import { useText } from '../../text/catalogue.ts';
import { whileSettling } from './domain-state.tsx';
import styles from './point-here.module.css';

/** The service answers a check of one domain once in 5 s. */
const CHECK_MS = 10_000;

interface PointHereProps {
  readonly id: string;
  /** One of several is not checked: each would cost a look-up every few seconds. */
  readonly isOnly: boolean;
}

export function PointHere({ id, isOnly }: PointHereProps) {
  const t = useText(addDomainText);
  const load = useRead('domain.get', { domain_id: id }, { everyMs: isOnly && whileSettling });
  return (
    <Loaded load={load}>
      {(domain) => (
        <Card title={t.pointTitle} note={<span className="mono wrap">{domain.domain_name}</span>}>
          <div className="stack">
            <p className="help">{t.pointHelp}</p>
            <DnsRecord domain={domain} />
            {isOnly && <LiveSteps domain={domain} />}
          </div>
        </Card>
      )}
    </Loaded>
  );
}

type DomainData = DataOf<'domain.get'>;

function DnsRecord({ domain: { domain_name, cname } }: { readonly domain: DomainData }) {
  const t = useText(addDomainText);
  const part = (text: string, what: string) => (
    <span className="row">
      <span className="mono wrap">{text}</span>
      <CopyButton text={text} what={what} />
    </span>
  );
  return (
    <>
      <Facts
        facts={[
          { title: t.recordName, value: part(domain_name, t.recordName) },
          { title: t.recordType, value: part('CNAME', t.recordType) },
          { title: t.recordValue, value: part(cname, t.recordValue) },
        ]}
      />
      <details>
        <summary className="help">{t.bind}</summary>
        <CopyBox text={`${domain_name}. 600 IN CNAME ${cname}.`} what={t.bind} />
      </details>
    </>
  );
}

function LiveSteps({ domain: { domain_id, domain_status } }: { readonly domain: DomainData }) {
  const t = useText(addDomainText);
  const check = useRead('domain.check', { domain_id }, { everyMs: CHECK_MS });
  const found = check.kind === 'ready' ? check.data : undefined;
  const steps = [
    { title: t.steps.edges, isDone: Number(domain_status) === 2 },
    { title: t.steps.dns, isDone: found?.dns.state === 'here' },
    { title: t.steps.origin, isDone: (found?.origin.status ?? 0) > 0 },
    { title: t.steps.request, isDone: (found?.seen_at ?? 0) > 0 },
  ];
  return (
    <ul className={styles['steps']} aria-live="polite">
      {steps.map(({ title, isDone }) => (
        <li key={title}>
          <Badge tone={isDone ? 'ok' : 'busy'}>{title}</Badge>
        </li>
      ))}
    </ul>
  );
}
