/** What becomes, or has become, of each of several domains: what changes on it, or why it stays as it is. */
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Diff } from '../../components/diff.tsx';
import { Notice } from '../../components/notice.tsx';
import { domainPath } from '../../routes/domains.ts';
import { useText } from '../../text/catalogue.ts';
import { changeDomainsText } from '../../text/change-domains.ts';
import { useDifferences } from '../domain/use-differences.ts';
import styles from './change-results.module.css';

type Result = DataOf<'domain.changeMany'>['list'][number];

export function willChange({ changes }: Result): boolean {
  return changes.length > 0;
}

interface ChangeResultsProps {
  readonly results: readonly Result[];
  /** The changes were made. */
  readonly isDone?: boolean;
}

/** Limit of domains whose changes are seen without opening them. */
const OPENED = 5;

export function ChangeResults({ results, isDone = false }: ChangeResultsProps) {
  return (
    <ul className={styles['results']}>
      {results.map((result) => (
        <ResultRow key={result.domain_id} result={result} isDone={isDone} isOpen={results.length <= OPENED} />
      ))}
    </ul>
  );
}

interface ResultRowProps {
  readonly result: Result;
  readonly isDone: boolean;
  readonly isOpen: boolean;
}

function ResultRow({ result, isDone, isOpen }: ResultRowProps) {
  const t = useText(changeDomainsText);
  const { domain_id, domain_name, changes, warnings, error } = result;
  const differences = useDifferences(changes);
  return (
    <li className={styles['result']}>
      <div className="row">
        <Link href={domainPath(domain_id)} className="mono wrap">
          {domain_name}
        </Link>
        <span className="grow" />
        <State result={result} isDone={isDone} />
      </div>
      {error && <p className={styles['refusal']}>{error.text}</p>}
      {willChange(result) && (
        <details open={isOpen}>
          <summary className="help">{t.settings(changes.length)}</summary>
          <Diff differences={differences} />
        </details>
      )}
      {warnings.map(({ code, text }) => (
        <Notice key={code} tone="warn">
          {text}
        </Notice>
      ))}
    </li>
  );
}

function State({ result, isDone }: Pick<ResultRowProps, 'result' | 'isDone'>) {
  const t = useText(changeDomainsText);
  if (result.error !== null) return <Badge tone="bad">{t.states.refused}</Badge>;
  if (!willChange(result)) return <Badge tone="idle">{t.states.same}</Badge>;
  return isDone ? <Badge tone="ok">{t.states.changed}</Badge> : <Badge tone="busy">{t.states.changes}</Badge>;
}
