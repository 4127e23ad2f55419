/** A surface with a heading. No card stands inside another. */
import { type ReactNode, useId } from 'react';
import { classes } from '../lib/classes.ts';
import styles from './card.module.css';

interface CardProps {
  readonly title?: ReactNode;
  /** A unit, a period or a count beside the heading. */
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  /** No padding, for tables and rows that reach both sides. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}

export function Card({ title, note, actions, isFlush = false, children }: CardProps) {
  const heading = useId();
  return (
    <section className={styles['card']} aria-labelledby={title === undefined ? undefined : heading}>
      {title !== undefined && (
        <header className={styles['head']}>
          <h2 id={heading}>{title}</h2>
          {note !== undefined && <span className="dim">{note}</span>}
          <span className="grow" />
          {actions}
        </header>
      )}
      <div className={classes(styles['body'], isFlush && styles['flush'])}>{children}</div>
    </section>
  );
}
