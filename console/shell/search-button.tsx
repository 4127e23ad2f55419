/** Opens the palette, also by Ctrl or ⌘ and K. Its code is loaded then. */
import { useState } from 'react';
import { Icon } from '../components/icon.tsx';
import { Later } from '../components/later.tsx';
import { lazily } from '../lib/lazily.ts';
import { useKey } from '../lib/use-key.ts';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';
import styles from './search-button.module.css';

const Palette = lazily(async () => (await import('./palette.tsx')).Palette);

const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function SearchButton() {
  const t = useText(shellText);
  const [isOpen, setOpen] = useState(false);
  useKey({ key: 'k', isWithControl: true }, () => setOpen(true));
  return (
    <>
      <button type="button" className={styles['button']} onClick={() => setOpen(true)}>
        <Icon name="search" />
        <span className={styles['label']}>{t.search}</span>
        <kbd className={styles['key']}>{IS_APPLE ? '⌘ K' : 'Ctrl K'}</kbd>
      </button>
      {isOpen && (
        <Later as="floating">
          <Palette onClose={() => setOpen(false)} />
        </Later>
      )}
    </>
  );
}
