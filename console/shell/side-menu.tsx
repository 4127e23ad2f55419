/** The menu at the left, in groups. */
import { Link, useLocation } from 'wouter';
import { Icon } from '../components/icon.tsx';
import { menuOf } from '../pages.tsx';
import { PATHS } from '../routes.ts';
import { useSession } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';
import styles from './side-menu.module.css';

export function SideMenu() {
  const t = useText(shellText);
  const [path] = useLocation();
  const groups = Map.groupBy(menuOf(useSession()), ({ group }) => group);
  return (
    <nav className={styles['menu']} aria-label={t.menu}>
      {[...groups].map(([group, rows]) => (
        <div key={group} className={styles['group']}>
          {t.groups[group] && <p className={styles['heading']}>{t.groups[group]}</p>}
          {rows.map(({ page, icon }) => (
            <Link
              key={page}
              href={PATHS[page]}
              className={styles['link']}
              aria-current={isOpen(path, PATHS[page]) ? 'page' : undefined}
            >
              <Icon name={icon} />
              {t.pages[page]}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  );
}

/** A page is open on the pages below it too. */
export function isOpen(path: string, of: string): boolean {
  return path === of || (of !== '/' && path.startsWith(`${of}/`));
}
