/** The one form: fields in a column, the service's refusal above the button that sends it. */
import type { FormEvent, ReactNode } from 'react';
import type { Problem } from '../components/load.ts';
import { Notice } from '../components/notice.tsx';
import styles from './form.module.css';

interface FormProps {
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => unknown;
  /** Why the last attempt did not succeed. */
  readonly problem?: Problem | undefined;
  /** Buttons, the one that sends first. */
  readonly actions: ReactNode;
  readonly children: ReactNode;
}

export function Form({ onSubmit, problem, actions, children }: FormProps) {
  return (
    <form className={styles['form']} noValidate onSubmit={(event) => void onSubmit(event)}>
      {children}
      {problem && <Notice tone="bad">{problem.text}</Notice>}
      <div className="row">{actions}</div>
    </form>
  );
}
