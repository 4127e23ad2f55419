/** The layout of one object's facts: names at the left, values at the right. */
import type { ReactNode } from 'react';
import styles from './detail.module.css';

export interface Fact {
  readonly title: string;
  readonly value: ReactNode;
}

/** Facts whose value is `undefined` are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className={styles['facts']}>
      {facts
        .filter(({ value }) => value !== undefined)
        .map(({ title, value }) => (
          <div key={title} className={styles['fact']}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
