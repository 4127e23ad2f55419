/** A setting that is on or off. */
import type { ControlIds } from './field.tsx';
import styles from './switch.module.css';

interface SwitchProps {
  readonly ids: ControlIds;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function Switch({ ids, isOn, onChange }: SwitchProps) {
  return (
    <input
      type="checkbox"
      role="switch"
      id={ids.id}
      className={styles['switch']}
      aria-describedby={ids.describedBy}
      checked={isOn}
      aria-checked={isOn}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}
