/** A setting that is on or off. */
import { Switch as BaseSwitch } from '@base-ui/react/switch';
import type { ControlIds } from './field.tsx';
import styles from './switch.module.css';

interface SwitchProps {
  readonly ids: ControlIds;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function Switch({ ids, isOn, onChange }: SwitchProps) {
  return (
    <BaseSwitch.Root
      id={ids.id}
      className={styles['track']}
      aria-labelledby={ids.labelId}
      aria-describedby={ids.describedBy}
      checked={isOn}
      onCheckedChange={onChange}
    >
      <BaseSwitch.Thumb className={styles['knob']} />
    </BaseSwitch.Root>
  );
}
