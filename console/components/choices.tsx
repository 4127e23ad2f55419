/** Several of a few choices: a box for each. */
import { useId } from 'react';
import styles from './choices.module.css';
import { toggled } from './entries.ts';

interface ChoicesProps<V extends string> {
  readonly label: string;
  readonly choices: readonly { readonly value: V; readonly label: string }[];
  readonly chosen: readonly V[];
  readonly error?: string | undefined;
  readonly onChange: (chosen: readonly V[]) => void;
}

export function Choices<V extends string>({ label, choices, chosen, error, onChange }: ChoicesProps<V>) {
  const errorId = useId();
  return (
    <fieldset className={styles['choices']} aria-describedby={error === undefined ? undefined : errorId}>
      <legend className={styles['legend']}>{label}</legend>
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
