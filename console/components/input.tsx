/** One line of text, a number, or several lines. */
import type { ComponentProps } from 'react';
import { classes } from '../lib/classes.ts';
import type { ControlIds } from './field.tsx';
import styles from './input.module.css';

interface Shared {
  readonly ids: ControlIds;
  /** Names, addresses and code. */
  readonly isMono?: boolean;
}

type InputProps = Shared & Omit<ComponentProps<'input'>, 'className' | 'style' | 'id'>;

export function TextInput({ ids, isMono = false, ...rest }: InputProps) {
  return (
    <input
      type="text"
      autoComplete="off"
      spellCheck={!isMono}
      {...rest}
      {...controlled(ids)}
      className={classes(styles['input'], isMono && 'mono')}
    />
  );
}

/** Digits are typed as text: a spinner and a mouse wheel change numbers by accident. */
export function NumberInput({ ids, unit, ...rest }: InputProps & { readonly unit?: string }) {
  return (
    <span className={styles['number']}>
      <input
        type="text"
        inputMode="numeric"
        autoComplete="off"
        {...rest}
        {...controlled(ids)}
        className={classes(styles['input'], 'number')}
      />
      {unit && <span className="dim">{unit}</span>}
    </span>
  );
}

type AreaProps = Shared & Omit<ComponentProps<'textarea'>, 'className' | 'style' | 'id'>;

export function TextArea({ ids, isMono = false, ...rest }: AreaProps) {
  return (
    <textarea
      rows={4}
      spellCheck={!isMono}
      {...rest}
      {...controlled(ids)}
      className={classes(styles['input'], styles['area'], isMono && 'mono')}
    />
  );
}

/** A search field in a toolbar: its label is its placeholder. */
export function SearchInput({
  label,
  ...rest
}: Omit<ComponentProps<'input'>, 'className' | 'style'> & { label: string }) {
  return (
    <input
      type="search"
      autoComplete="off"
      spellCheck={false}
      {...rest}
      aria-label={label}
      placeholder={label}
      className={classes(styles['input'], styles['search'])}
    />
  );
}

function controlled({ id, describedBy, isInvalid }: ControlIds) {
  return { id, 'aria-describedby': describedBy, 'aria-invalid': isInvalid || undefined };
}
