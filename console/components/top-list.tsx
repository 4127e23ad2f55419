/** What occurs most, with bars. */
import type { ReactNode } from 'react';
import styles from './top-list.module.css';

interface TopListProps {
  readonly label: string;
  readonly rows: readonly {
    readonly name: string;
    readonly amount: number;
    readonly shown: ReactNode;
    readonly note?: ReactNode;
  }[];
}

export function TopList({ label, rows }: TopListProps) {
  const top = Math.max(...rows.map(({ amount }) => amount), 1);
  return (
    <ol className={styles['list']} aria-label={label}>
      {rows.map(({ name, amount, shown, note }) => (
        <li key={name} className={styles['row']}>
          <span className={styles['name']} title={name}>
            {name}
          </span>
          <span>{shown}</span>
          {note && <span className={styles['note']}>{note}</span>}
          <meter className={styles['bar']} min={0} max={top} value={amount} aria-hidden="true" />
        </li>
      ))}
    </ol>
  );
}
