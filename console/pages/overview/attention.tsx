/** What somebody should look at; each line leads to the page where something can be done. */
import { Link } from 'wouter';
import { Badge } from '../../components/badge.tsx';
import { Card } from '../../components/card.tsx';
import { Skeleton } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { formatNumber } from '../../lib/format.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { overviewText } from '../../text/overview.ts';
import styles from './attention.module.css';
import type { Matter } from './attention-of.ts';
import { useMatters } from './use-matters.ts';

export function Attention() {
  const t = useText(overviewText);
  const { isKnown, matters, problem } = useMatters();
  return (
    <Card title={t.attention} isFlush>
      {problem && (
        <div className="pad">
          <Notice tone="warn">{problem.text}</Notice>
        </div>
      )}
      {!isKnown && <Skeleton lines={2} />}
      {isKnown && matters.length === 0 && problem === undefined && <p className="help pad">{t.nothing}</p>}
      <ul>
        {matters.map((matter) => (
          <li key={`${matter.about} ${JSON.stringify(matter.what)}`} className={styles['item']}>
            <Line matter={matter} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Line({ matter: { tone, about, to, what } }: { readonly matter: Matter }) {
  const words = useWords()(what);
  if (about === '')
    return (
      <Link href={to}>
        <Badge tone={tone}>{words}</Badge>
      </Link>
    );
  return (
    <>
      <Link href={to} className="mono wrap">
        {about}
      </Link>
      <Badge tone={tone}>
        <span className={styles['words']}>{words}</span>
      </Badge>
    </>
  );
}

type Words = (what: Matter['what']) => string;

function useWords(): Words {
  const t = useText(overviewText);
  const locale = usePreference('locale');
  return (what) => {
    switch (what.kind) {
      case 'text':
        return what.text;
      case 'certificate':
        return t.certificateEnds(what.days);
      case 'quota':
        return t.quotas[what.name](formatNumber(what.used, locale), formatNumber(what.limit, locale));
      case 'refused':
        return t.refused(what.edges);
      case 'edges':
        return t.edges[what.status](what.count);
      case 'webhook':
        return t.webhookFails(what.waiting);
    }
  };
}
