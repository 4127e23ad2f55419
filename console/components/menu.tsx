/** What else can be done with something: a button that opens a list of actions, whose code is loaded at the first press. */
import { type ReactNode, useState, useTransition } from 'react';
import { lazily } from '../lib/lazily.ts';
import { lookOf } from './button.tsx';
import { Icon } from './icon.tsx';
import type { IconName } from './icons.ts';
import { Later } from './later.tsx';

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
  readonly groups: readonly MenuGroup[];
  readonly children?: ReactNode;
}

export interface MenuGroup {
  readonly title?: string;
  readonly items: readonly MenuItem[];
}

const OpenedMenu = lazily(async () => (await import('./opened-menu.tsx')).OpenedMenu);

export function Menu({ label, icon, groups, children }: MenuProps) {
  const [wasOpened, setOpened] = useState(false);
  // Until the code is there, the button stays as it is, with the focus.
  const [isLoading, startLoading] = useTransition();
  const button = {
    className: lookOf('plain', children === undefined && icon !== undefined),
    'aria-label': children === undefined ? label : undefined,
    title: label,
    children: (
      <>
        {icon && <Icon name={icon} />}
        {children}
      </>
    ),
  };
  return (
    <Later as="floating">
      {wasOpened ? (
        <OpenedMenu button={button} groups={groups} />
      ) : (
        <button
          type="button"
          {...button}
          aria-haspopup="menu"
          aria-expanded={false}
          aria-busy={isLoading}
          onClick={() => startLoading(() => setOpened(true))}
        />
      )}
    </Later>
  );
}
