/** What else can be done with something: a button that opens a list of actions. */
import { Menu as BaseMenu } from '@base-ui/react/menu';
import { Fragment, type ReactNode } from 'react';
import { classes } from '../lib/classes.ts';
import buttonStyles from './button.module.css';
import styles from './floating.module.css';
import { useFloatingRoot } from './floating.tsx';
import { Icon } from './icon.tsx';
import type { IconName } from './icons.ts';

interface MenuItem {
  readonly title: string;
  readonly icon?: IconName;
  /** Chosen among the items of its group. */
  readonly isChosen?: boolean;
  readonly onChoose: () => void;
}

interface MenuProps {
  /** Name of the button; its text where there are no children. */
  readonly label: string;
  readonly icon?: IconName;
  readonly groups: readonly { readonly title?: string; readonly items: readonly MenuItem[] }[];
  readonly children?: ReactNode;
}

export function Menu({ label, icon, groups, children }: MenuProps) {
  const root = useFloatingRoot();
  const isSquare = children === undefined && icon !== undefined;
  return (
    <BaseMenu.Root modal={false}>
      <BaseMenu.Trigger
        className={classes(buttonStyles['button'], buttonStyles['plain'], isSquare && buttonStyles['square'])}
        aria-label={children === undefined ? label : undefined}
        title={label}
      >
        {icon && <Icon name={icon} />}
        {children}
      </BaseMenu.Trigger>
      <BaseMenu.Portal container={root}>
        <BaseMenu.Positioner className={styles['positioner']} sideOffset={4} align="end">
          <BaseMenu.Popup className={styles['popup']}>
            {groups.map(({ title, items }, n) => (
              <Fragment key={title ?? n}>
                {n > 0 && <BaseMenu.Separator className={styles['rule']} />}
                <BaseMenu.Group>
                  {title && <BaseMenu.GroupLabel className={styles['heading']}>{title}</BaseMenu.GroupLabel>}
                  {items.map((item) => (
                    <BaseMenu.Item key={item.title} className={styles['item']} onClick={item.onChoose}>
                      {item.icon && <Icon name={item.icon} />}
                      <span className="grow">{item.title}</span>
                      {item.isChosen && <Icon name="check" />}
                    </BaseMenu.Item>
                  ))}
                </BaseMenu.Group>
              </Fragment>
            ))}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}
