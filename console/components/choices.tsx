/** Several of a few choices: a box for each. */
import { useId } from 'react';
import styles from './choices.module.css';
import { toggled } from './entries.ts';
import type { ControlIds } from './field.tsx';

interface ChoicesProps<V extends string> {
  /** Absent: it stands in a field, whose `ids` are given. */
  readonly label?: string;
  readonly ids?: ControlIds;
  readonly choices: readonly { readonly value: V; readonly label: string }[];
  readonly chosen: readonly V[];
  readonly error?: string | undefined;
  readonly onChange: (chosen: readonly V[]) => void;
}

export function Choices<V extends string>({ label, ids, choices, chosen, error, onChange }: ChoicesProps<V>) {
  const errorId = useId();
  return (
    <fieldset
      className={styles['choices']}
      id={ids?.id}
      aria-labelledby={ids?.labelId}
      aria-describedby={error === undefined ? ids?.describedBy : errorId}
    >
      {label !== undefined && <legend className={styles['legend']}>{label}</legend>}
      {choices.map(({ value, label: title }) => (
        <label key={value} className={styles['choice']}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={() => onChange([...toggled(new Set(chosen), value)])}
          />
          {title}
        </label>
      ))}
      {error !== undefined && (
        <p className={styles['error']} id={errorId} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
