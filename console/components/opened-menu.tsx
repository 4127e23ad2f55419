/** A menu from its first opening on: its button, and its list within the page's main part. */
import { Menu } from '@base-ui/react/menu';
import { type ComponentProps, Fragment } from 'react';
import styles from './floating.module.css';
import { Icon } from './icon.tsx';
import type { MenuGroup } from './menu.tsx';
import { MAIN_ID } from './page.tsx';

interface OpenedMenuProps {
  readonly button: ComponentProps<typeof Menu.Trigger>;
  readonly groups: readonly MenuGroup[];
}

export function OpenedMenu({ button, groups }: OpenedMenuProps) {
  return (
    <Menu.Root modal={false} defaultOpen>
      <Menu.Trigger {...button} />
      {/* Within a landmark, so that screen readers that jump among landmarks find it. */}
      <Menu.Portal container={document.getElementById(MAIN_ID)}>
        <Menu.Positioner className={styles['positioner']} sideOffset={4} align="end">
          <Menu.Popup className={styles['popup']}>
            {groups.map(({ title, items }, n) => (
              <Fragment key={title ?? n}>
                {n > 0 && <Menu.Separator className={styles['rule']} />}
                <Menu.Group>
                  {title && <Menu.GroupLabel className={styles['heading']}>{title}</Menu.GroupLabel>}
                  {items.map((item) => (
                    <Menu.Item key={item.title} className={styles['item']} onClick={item.onChoose}>
                      {item.icon && <Icon name={item.icon} />}
                      <span className="grow">{item.title}</span>
                      {item.isChosen && <Icon name="check" />}
                    </Menu.Item>
                  ))}
                </Menu.Group>
              </Fragment>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
