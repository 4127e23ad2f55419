/** The frame of a page: where it belongs, its heading, what can be done. Names the document, and takes the focus after a navigation. */
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { classes } from '../lib/classes.ts';
import styles from './page.module.css';

/** Id of the element around a page. */
export const MAIN_ID = 'main';

/** Whether the person has come here from another page of the console. */
export const Arrived = createContext(false);

interface PageProps {
  /** Heading, and the name of the document. */
  readonly title: string;
  /** A name or address as the heading. */
  readonly isName?: boolean;
  /** A state or a count beside the heading. */
  readonly note?: ReactNode;
  readonly back?: { readonly to: string; readonly title: string };
  readonly actions?: ReactNode;
  /** Forms are easier to read when they are narrow. */
  readonly isNarrow?: boolean;
  readonly children: ReactNode;
}

export function Page({ title, isName = false, note, back, actions, isNarrow = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const hasArrived = useContext(Arrived);
  useEffect(() => {
    document.title = `${title} · Causeway`;
  }, [title]);
  useEffect(() => {
    if (hasArrived) heading.current?.focus({ preventScroll: true });
  }, [hasArrived]);
  return (
    <div className={classes(styles['page'], isNarrow && styles['narrow'])}>
      {back && (
        <Link href={back.to} className={styles['back']}>
          {back.title}
        </Link>
      )}
      <div className={styles['head']}>
        <h1 ref={heading} tabIndex={-1} className={classes(isName && styles['name'])}>
          {title}
        </h1>
        {note}
        {actions && <div className={styles['actions']}>{actions}</div>}
      </div>
      {children}
    </div>
  );
}
