/** The menu of a phone: four pages, and all of them behind the fifth button. */
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Dialog } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { menuOf } from '../pages.tsx';
import { type MenuPage, PATHS } from '../routes.ts';
import { useSession } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';
import styles from './bottom-bar.module.css';
import { isOpen } from './side-menu.tsx';

const SHOWN = 4;

export function BottomBar() {
  const t = useText(shellText);
  const [path] = useLocation();
  const [isSheetOpen, setSheetOpen] = useState(false);
  const rows = menuOf(useSession());
  const shortOf = (page: MenuPage) => ({ ...t.pages, ...t.short })[page];
  return (
    <nav className={styles['bar']} aria-label={t.menu}>
      {rows.slice(0, SHOWN).map(({ page, icon }) => (
        <Link
          key={page}
          href={PATHS[page]}
          className={styles['entry']}
          aria-current={isOpen(path, PATHS[page]) ? 'page' : undefined}
        >
          <Icon name={icon} />
          {shortOf(page)}
        </Link>
      ))}
      {rows.length > SHOWN && (
        <button type="button" className={styles['entry']} onClick={() => setSheetOpen(true)}>
          <Icon name="more" />
          {t.more}
        </button>
      )}
      <Dialog title={t.menu} isOpen={isSheetOpen} onClose={() => setSheetOpen(false)}>
        {rows.slice(SHOWN).map(({ page, icon }) => (
          <Link key={page} href={PATHS[page]} className={styles['row']} onClick={() => setSheetOpen(false)}>
            <Icon name={icon} />
            {t.pages[page]}
          </Link>
        ))}
      </Dialog>
    </nav>
  );
}
