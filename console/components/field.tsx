/** A control with its label, its help and its error, tied together for screen readers. */
import { type ReactNode, useId } from 'react';
import { classes } from '../lib/classes.ts';
import styles from './field.module.css';

/** What a control is given so that its label, help and error belong to it. */
export interface ControlIds {
  readonly id: string;
  readonly labelId: string;
  readonly describedBy: string | undefined;
  readonly isInvalid: boolean;
}

interface FieldProps {
  readonly label: ReactNode;
  readonly help?: ReactNode;
  readonly error?: string | undefined;
  /** Label and help at the left, the control at the right. */
  readonly isRow?: boolean;
  /** The control of a row stands below its label, over the whole width. */
  readonly isWide?: boolean;
  /** Differs from what is stored. */
  readonly isChanged?: boolean;
  /** A remark beside the label. */
  readonly mark?: ReactNode;
  readonly children: (ids: ControlIds) => ReactNode;
}

export function Field({
  label,
  help,
  error,
  isRow = false,
  isWide = false,
  isChanged = false,
  mark,
  children,
}: FieldProps) {
  const id = useId();
  const [labelId, helpId, errorId] = [`${id}-label`, `${id}-help`, `${id}-error`];
  const describedBy = [help && helpId, error && errorId].filter(Boolean).join(' ') || undefined;
  return (
    <div
      className={classes(
        styles['field'],
        isRow && styles['row'],
        isWide && styles['wide'],
        isChanged && styles['changed'],
      )}
    >
      <div className={styles['words']}>
        <label className={styles['label']} id={labelId} htmlFor={id}>
          {label}
        </label>
        {mark}
        {help && (
          <p className="help" id={helpId}>
            {help}
          </p>
        )}
      </div>
      <div className={styles['control']}>
        {children({ id, labelId, describedBy, isInvalid: error !== undefined })}
        {error !== undefined && (
          <p className={styles['error']} id={errorId} role="alert">
            {error}
          </p>
        )}
      </div>
    </div>
  );
}
