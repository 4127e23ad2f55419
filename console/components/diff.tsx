/** What changes, setting by setting: before and after, or in three columns where two people changed the same. */
import type { ReactNode } from 'react';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import styles from './diff.module.css';
import { Icon } from './icon.tsx';

export interface Difference {
  readonly id: string;
  readonly title: string;
  readonly before: ReactNode;
  readonly after: ReactNode;
}

export function Diff({ differences }: { readonly differences: readonly Difference[] }) {
  const t = useText(commonText);
  return (
    <dl className={styles['diff']}>
      {differences.map(({ id, title, before, after }) => (
        <div key={id} className={styles['line']}>
          <dt>{title}</dt>
          <dd className={styles['values']}>
            <del>
              <span className="unseen">{t.before} </span>
              {before}
            </del>
            <Icon name="arrow" />
            <ins>
              <span className="unseen">{t.after} </span>
              {after}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}
