/** The record that points a domain here, and a list that ticks itself as it comes true, until the domain serves. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyBox, CopyButton } from '../../components/copy.tsx';
import { Facts } from '../../components/detail.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { useRead } from '../../queries.ts';
import { domainPath } from '../../routes/domains.ts';
import { addDomainText } from '../../text/add-domain.ts';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import { zoneLine } from './domain-names.ts';
import { whileSettling } from './domain-state.tsx';
import { useReason } from './origin-answer.tsx';
import styles from './point-here.module.css';

/** The service answers a check of one domain once in 5 s. */
const CHECK_MS = 10_000;

export function PointHere({ id }: { readonly id: string }) {
  const t = useText(addDomainText);
  const load = useRead('domain.get', { domain_id: id }, { everyMs: whileSettling });
  return (
    <Loaded load={load}>
      {(domain) => (
        <>
          <Card title={t.pointTitle} note={<span className="mono wrap">{domain.domain_name}</span>}>
            <div className="stack">
              <p className="help">{t.pointHelp}</p>
              <DnsRecord domain={domain} />
            </div>
          </Card>
          <LiveSteps domain={domain} />
          <div className="row">
            <LinkButton kind="primary" to={domainPath(id)}>
              {t.toDomain}
            </LinkButton>
          </div>
        </>
      )}
    </Loaded>
  );
}

type DomainData = DataOf<'domain.get'>;

export function DnsRecord({ domain: { domain_name, cname } }: { readonly domain: DomainData }) {
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
        <CopyBox text={zoneLine(domain_name, cname)} what={t.bind} />
      </details>
    </>
  );
}

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  /** What was found instead. */
  readonly found?: string | undefined;
}

function LiveSteps({ domain }: { readonly domain: DomainData }) {
  const t = useText(addDomainText);
  const { dnsStates: states } = useText(domainViewsText);
  const { domain_id, domain_name, domain_status, warnings = [] } = domain;
  const load = useRead(
    'domain.check',
    { domain_id },
    { everyMs: (found) => (found !== undefined && found.seen_at > 0 && found.dns.state === 'here' ? false : CHECK_MS) },
  );
  const check = load.kind === 'ready' ? load.data : undefined;
  const { status = 0, why = '' } = check?.origin ?? {};
  const reason = useReason({ why });
  const isServing = Number(domain_status) === 2 && (check?.seen_at ?? 0) > 0;
  const steps: readonly Step[] = [
    { title: t.steps.edges, isDone: Number(domain_status) === 2 },
    {
      title: t.steps.origin,
      isDone: status > 0,
      found: warnings[0]?.text ?? (status === 0 ? reason : undefined),
    },
    {
      title: t.steps.dns,
      isDone: check?.dns.state === 'here',
      found: check && [states[check.dns.state], ...check.dns.found].join(' '),
    },
    { title: t.steps.request, isDone: (check?.seen_at ?? 0) > 0 },
  ];
  return (
    <Card title={t.stepsTitle} note={t.stepsNote}>
      <ol className={styles['steps']} aria-live="polite">
        {steps.map(({ title, isDone, found }) => (
          <li key={title}>
            <Badge tone={isDone ? 'ok' : 'idle'}>
              {title} <span className="dim">{isDone ? t.done : t.notDone}</span>
            </Badge>
            {!isDone && found && <p className="help wrap">{found}</p>}
          </li>
        ))}
      </ol>
      {isServing && <Notice tone="info">{t.serves(domain_name)}</Notice>}
    </Card>
  );
}
