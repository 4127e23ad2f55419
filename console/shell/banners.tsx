/** What is true of the whole console at the moment, above every page. */
import { Notice } from '../components/notice.tsx';
import { useStore } from '../lib/store.ts';
import { useServices, useSession } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';
import styles from './banners.module.css';

export function Banners() {
  const t = useText(shellText);
  const isOnline = useStore(useServices().caller.isOnline);
  const { look } = useSession();
  if (isOnline && look === null) return null;
  return (
    <div className={styles['banners']}>
      {look !== null && <Notice tone="warn">{t.looking(look.reason)}</Notice>}
      {!isOnline && <Notice tone="warn">{t.offline}</Notice>}
    </div>
  );
}
