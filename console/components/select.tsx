/** One of a few choices: the browser's own list, which every device shows in its way. */
import { classes } from '../lib/classes.ts';
import type { ControlIds } from './field.tsx';
import { Icon } from './icon.tsx';
import inputStyles from './input.module.css';
import styles from './select.module.css';

interface Choice<V extends string> {
  readonly value: V;
  readonly label: string;
}

interface SelectProps<V extends string> {
  readonly ids?: ControlIds;
  /** Name of a select that has no label beside it. */
  readonly label?: string;
  readonly choices: readonly Choice<V>[];
  readonly value: V;
  readonly onChange: (value: V) => void;
}

export function Select<V extends string>({ ids, label, choices, value, onChange }: SelectProps<V>) {
  return (
    <span className={styles['frame']}>
      <select
        id={ids?.id}
        className={classes(inputStyles['input'], styles['select'])}
        aria-label={label}
        aria-describedby={ids?.describedBy}
        aria-invalid={ids?.isInvalid || undefined}
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = choices[currentTarget.selectedIndex];
          if (chosen) onChange(chosen.value);
        }}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </span>
  );
}
