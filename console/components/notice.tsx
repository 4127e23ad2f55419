/** Something that a person should know before going on. */
import type { ReactNode } from 'react';
import { classes } from '../lib/classes.ts';
import { Icon } from './icon.tsx';
import styles from './notice.module.css';

interface NoticeProps {
  readonly tone: 'info' | 'warn' | 'bad';
  readonly children: ReactNode;
}

export function Notice({ tone, children }: NoticeProps) {
  return (
    <div className={classes(styles['notice'], styles[tone])} role={tone === 'info' ? 'status' : 'alert'}>
      <Icon name={tone === 'info' ? 'info' : 'warning'} />
      <div className={styles['text']}>{children}</div>
    </div>
  );
}
