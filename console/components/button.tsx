/** Buttons, and links that look like them: one `primary` a view, `plain` for actions beside it, `danger` for deleting. */
import type { ComponentProps, ReactNode } from 'react';
import { Link } from 'wouter';
import { classes } from '../lib/classes.ts';
import styles from './button.module.css';
import { Icon } from './icon.tsx';
import type { IconName } from './icons.ts';

type ButtonKind = 'primary' | 'normal' | 'plain' | 'danger';

interface Look {
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly children?: ReactNode;
}

type ButtonProps = Look & Omit<ComponentProps<'button'>, 'className' | 'style'> & { readonly isBusy?: boolean };

/** `isBusy` keeps it from being pressed twice; it stays focused. */
export function Button({ kind = 'normal', icon, isBusy = false, onClick, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={lookOf(kind)}
      aria-disabled={isBusy || undefined}
      onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

type IconButtonProps = Omit<ComponentProps<'button'>, 'className' | 'style' | 'children'> & {
  readonly icon: IconName;
  readonly label: string;
};

/** A button of an icon alone; `label` is its name and its tooltip. */
export function IconButton({ icon, label, ...rest }: IconButtonProps) {
  return (
    <button type="button" {...rest} className={lookOf('plain', true)} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}

export function LinkButton({ kind = 'normal', icon, to, children }: Look & { readonly to: string }) {
  return (
    <Link href={to} className={lookOf(kind)}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  );
}

export function lookOf(kind: ButtonKind, isSquare = false): string {
  return classes(styles['button'], styles[kind], isSquare && styles['square']);
}
