/** What somebody should look at: domains that are not served, certificates that end. */
import { Link } from 'wouter';
import { Badge } from '../../components/badge.tsx';
import { Card } from '../../components/card.tsx';
import { domainPath } from '../../routes.ts';
import { useText } from '../../text/catalogue.ts';
import { overviewText } from '../../text/overview.ts';
import styles from './attention.module.css';
import { attentionOf, type BriefDomain } from './attention-of.ts';

export function Attention({ domains }: { readonly domains: readonly BriefDomain[] }) {
  const t = useText(overviewText);
  const now = Date.now();
  const items = domains.flatMap((domain) => attentionOf(domain, now).map((matter) => ({ domain, ...matter })));
  return (
    <Card title={t.attention} isFlush>
      {items.length === 0 && <p className="help pad">{t.nothing}</p>}
      <ul>
        {items.map(({ domain, kind, tone, days }) => (
          <li key={`${domain.domain_id} ${kind}`} className={styles['item']}>
            <Link
              href={domainPath(domain.domain_id, kind === 'certificate' ? 'https' : 'overview')}
              className="mono wrap"
            >
              {domain.domain_name}
            </Link>
            <Badge tone={tone}>{kind === 'certificate' ? t.certificateEnds(days) : domain.status}</Badge>
          </li>
        ))}
      </ul>
    </Card>
  );
}
