/** Parts of one object, each with an address of its own. */
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import styles from './tabs.module.css';

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly to: string; readonly title: string; readonly isOpen: boolean }[];
}

export function Tabs({ label, tabs }: TabsProps) {
  const nav = useRef<HTMLElement>(null);
  const open = tabs.find(({ isOpen }) => isOpen)?.to;
  // On a phone not all of them have room.
  useEffect(() => {
    if (open !== undefined)
      nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [open]);
  return (
    <nav ref={nav} aria-label={label} className={styles['tabs']}>
      {tabs.map(({ to, title, isOpen }) => (
        <Link key={to} href={to} className={styles['tab']} aria-current={isOpen ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
