/** What is to be done with what was chosen or changed, always in view. */
import type { ReactNode } from 'react';
import styles from './sticky-bar.module.css';

export function StickyBar({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <section className={styles['bar']} aria-label={label} data-sticky-bar="">
      {children}
    </section>
  );
}
