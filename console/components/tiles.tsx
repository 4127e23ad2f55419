/** A strip of figures, each perhaps with its course and with how it was before. */
import type { ReactNode } from 'react';
import { Sparkline } from './sparkline.tsx';
import styles from './tiles.module.css';

export interface Tile {
  readonly title: string;
  readonly value: ReactNode;
  /** How it was in the time before. */
  readonly note?: ReactNode;
  readonly course?: readonly number[];
}

export function Tiles({ tiles }: { readonly tiles: readonly Tile[] }) {
  return (
    <dl className={styles['tiles']}>
      {tiles.map(({ title, value, note, course }) => (
        <div key={title} className={styles['tile']}>
          <dt className="help">{title}</dt>
          <dd className={styles['value']}>{value}</dd>
          {note && <dd className="help">{note}</dd>}
          {course && (
            <dd className={styles['course']}>
              <Sparkline values={course} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
