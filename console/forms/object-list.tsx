/** Rules in their order: each is a card of its members, which can be moved and removed. */
import type { KeyboardEvent } from 'react';
import { Button, IconButton } from '../components/button.tsx';
import { moved } from '../components/entries.ts';
import { Field } from '../components/field.tsx';
import { usePreference } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import styles from './object-list.module.css';
import { SettingControl, type SettingControlProps } from './setting-control.tsx';
import { emptyObject, objectsOf } from './setting-value.ts';

export function ObjectList({ ids, field, text, value, onChange }: SettingControlProps) {
  const t = useText(commonText);
  const objects = objectsOf(value);
  const members = field.members ?? {};
  const replace = (n: number, ...by: readonly Readonly<Record<string, unknown>>[]) =>
    onChange([...objects.slice(0, n), ...by, ...objects.slice(n + 1)]);
  return (
    <fieldset className={styles['list']} id={ids.id} aria-labelledby={ids.labelId}>
      {objects.map((object, n) => (
        <fieldset
          // Rules have no ids; their place is what tells them apart.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          key={n}
          className={styles['object']}
          onKeyDown={(event) => moveByKey(event, (step) => onChange(moved(objects, n, step)))}
        >
          <legend className={styles['order']}>{n + 1}</legend>
          <div className={styles['members']}>
            {Object.entries(members).map(([name, member]) => (
              <Member
                key={name}
                {...{ name, member, text }}
                value={object[name]}
                onChange={(next) => replace(n, { ...object, [name]: next })}
              />
            ))}
          </div>
          <div className={styles['actions']}>
            <IconButton icon="up" label={t.moveUp} disabled={n === 0} onClick={() => onChange(moved(objects, n, -1))} />
            <IconButton
              icon="down"
              label={t.moveDown}
              disabled={n === objects.length - 1}
              onClick={() => onChange(moved(objects, n, 1))}
            />
            <IconButton icon="trash" label={`${t.remove} ${n + 1}`} onClick={() => replace(n)} />
          </div>
        </fieldset>
      ))}
      <Button icon="plus" onClick={() => onChange([...objects, emptyObject(members)])}>
        {t.add}
      </Button>
    </fieldset>
  );
}

interface MemberProps extends Pick<SettingControlProps, 'text' | 'value' | 'onChange'> {
  readonly name: string;
  readonly member: SettingControlProps['field'];
}

function Member({ name, member, text, value, onChange }: MemberProps) {
  const locale = usePreference('locale');
  const said = text.members?.[name];
  if (said === undefined) return null;
  return (
    <Field label={said.title[locale]} help={said.effect[locale]}>
      {(ids) => <SettingControl {...{ ids, value, onChange }} field={member} text={said} />}
    </Field>
  );
}

function moveByKey(event: KeyboardEvent, move: (step: -1 | 1) => void): void {
  if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
  event.preventDefault();
  move(event.key === 'ArrowUp' ? -1 : 1);
}
