/** One of a few choices. */
import { Select as BaseSelect } from '@base-ui/react/select';
import type { ControlIds } from './field.tsx';
import styles from './floating.module.css';
import { useFloatingRoot } from './floating.tsx';
import { Icon } from './icon.tsx';

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
  const root = useFloatingRoot();
  return (
    <BaseSelect.Root
      items={choices}
      value={value}
      onValueChange={(next) => next !== null && onChange(next)}
      modal={false}
    >
      <BaseSelect.Trigger
        id={ids?.id}
        className={styles['trigger']}
        aria-label={label}
        aria-labelledby={ids?.labelId}
        aria-describedby={ids?.describedBy}
        aria-invalid={ids?.isInvalid || undefined}
      >
        <BaseSelect.Value className={styles['value']} />
        <Icon name="down" />
      </BaseSelect.Trigger>
      <BaseSelect.Portal container={root}>
        <BaseSelect.Positioner className={styles['positioner']} sideOffset={4} alignItemWithTrigger={false}>
          <BaseSelect.Popup className={styles['popup']}>
            {choices.map((choice) => (
              <BaseSelect.Item key={choice.value} value={choice.value} className={styles['item']}>
                <BaseSelect.ItemText className="grow">{choice.label}</BaseSelect.ItemText>
                <BaseSelect.ItemIndicator>
                  <Icon name="check" />
                </BaseSelect.ItemIndicator>
              </BaseSelect.Item>
            ))}
          </BaseSelect.Popup>
        </BaseSelect.Positioner>
      </BaseSelect.Portal>
    </BaseSelect.Root>
  );
}
