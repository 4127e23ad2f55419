/** The frame of pages that are shown before somebody is signed in. */
import { type ReactNode, useEffect } from 'react';
import { MAIN_ID } from '../../components/page.tsx';
import { PreferencesMenu } from '../../shell/preferences-menu.tsx';
import styles from './entry-page.module.css';

export function EntryPage({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Causeway`;
  }, [title]);
  return (
    <main id={MAIN_ID} className={styles['page']}>
      <div className={styles['box']}>
        <div className={styles['head']}>
          <h1>{title}</h1>
          <PreferencesMenu />
        </div>
        {children}
      </div>
    </main>
  );
}

/** A line with words, between two ways to do the same. */
export function Or({ children }: { readonly children: ReactNode }) {
  return <p className={styles['or']}>{children}</p>;
}
