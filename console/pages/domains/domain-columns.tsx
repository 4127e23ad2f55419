/** The columns of the list of domains. */
import { Link } from 'wouter';
import { Badge } from '../../components/badge.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { classes } from '../../lib/classes.ts';
import { formatBytes, formatRatio } from '../../lib/format.ts';
import { domainPath } from '../../routes/domains.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainsText } from '../../text/domains.ts';
import { certificateDays } from '../overview/attention-of.ts';
import styles from './domain-columns.module.css';
import { DomainState } from './domain-state.tsx';
import type { BriefDomain } from './domains.tsx';

export function useDomainColumns(): readonly Column<BriefDomain>[] {
  const t = useText(domainsText);
  const locale = usePreference('locale');
  return [
    {
      id: 'name',
      title: t.name,
      phone: 'first',
      show: ({ domain_id, domain_name, remark }) => (
        <>
          <Link href={domainPath(domain_id)} className={classes('mono', styles['name'])} title={domain_name}>
            {domain_name}
          </Link>
          {remark !== '' && <span className={styles['remark']}>{remark}</span>}
        </>
      ),
    },
    { id: 'state', title: t.status, phone: 'second', show: (domain) => <DomainState domain={domain} /> },
    {
      id: 'traffic',
      title: t.traffic,
      isNumber: true,
      show: ({ traffic, spark }) => (
        <span className={styles['traffic']}>
          {traffic && formatBytes(traffic.bytes_out, locale)}
          {spark && (
            <span className={styles['spark']}>
              <Sparkline values={spark} />
            </span>
          )}
        </span>
      ),
    },
    {
      id: 'hits',
      title: t.hitRatio,
      isNumber: true,
      phone: 'hidden',
      show: ({ hit_ratio }) => (hit_ratio == null ? <span className="dim">—</span> : formatRatio(hit_ratio, locale)),
    },
    {
      id: 'origin',
      title: t.origin,
      show: ({ origin }) => <span className={styles['origin']}>{origin || '—'}</span>,
    },
    { id: 'https', title: t.https, phone: 'hidden', show: ({ ssl_ends_at }) => <Days endsAt={ssl_ends_at} /> },
    { id: 'added', title: t.added, phone: 'hidden', show: ({ created_at }) => <Time at={created_at} isRelative /> },
  ];
}

/** Days until the certificate ends. */
function Days({ endsAt }: { readonly endsAt: number }) {
  const t = useText(domainsText);
  const certificate = certificateDays(endsAt, Date.now());
  if (certificate === undefined) return <span className="dim">—</span>;
  const { days, tone } = certificate;
  return tone === 'ok' ? t.days(days) : <Badge tone={tone}>{days < 0 ? t.ended : t.days(days)}</Badge>;
}
