/** A state: a dot and a word. What is well is plain; color marks exceptions. */
import type { ReactNode } from 'react';
import { classes } from '../lib/classes.ts';
import styles from './badge.module.css';
import type { Tone } from './tone.ts';

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return <span className={classes(styles['badge'], styles[tone])}>{children}</span>;
}
