/** Keys that go to a page, and the list of all keys. */
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { Dialog } from '../components/dialog.tsx';
import { isTyping, useKey } from '../lib/use-key.ts';
import { type MenuPage, PATHS } from '../routes.ts';
import { useSession } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';
import styles from './keys.module.css';

/** Pressed after `g`. */
const PLACES: Readonly<Record<string, MenuPage>> = { d: 'domains', o: 'overview', m: 'messages' };
const PATIENCE_MS = 1500;

export function Keys() {
  const t = useText(shellText);
  const { scopes } = useSession();
  const [isOpen, setOpen] = useState(false);
  useKey({ key: '?' }, () => setOpen(true));
  useKey({ key: '/' }, () => document.querySelector<HTMLElement>('main input[type=search]')?.focus());
  useGoTo();
  const rows = [
    ['Ctrl / ⌘ K', t.keys.palette],
    ['/', t.keys.filter],
    ['j, k', t.keys.rows],
    ['x', t.keys.choose],
    ['g d', t.keys.domains],
    ['g o', t.keys.overview],
    ...(scopes.includes('sms') ? [['g m', t.keys.messages] as const] : []),
    ['Ctrl / ⌘ Enter', t.keys.apply],
    ['?', t.keys.help],
  ] as const;
  return (
    <Dialog title={t.keys.title} isOpen={isOpen} onClose={() => setOpen(false)}>
      <dl className={styles['keys']}>
        {rows.map(([key, meaning]) => (
          <div key={key} className={styles['row']}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function useGoTo(): void {
  const [, navigate] = useLocation();
  const pressedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const listen = ({ key, target, timeStamp, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (isTyping(target) || ctrlKey || metaKey || altKey) return;
      const place = timeStamp - pressedAt.current < PATIENCE_MS ? PLACES[key] : undefined;
      pressedAt.current = key === 'g' ? timeStamp : Number.NEGATIVE_INFINITY;
      if (place !== undefined) navigate(PATHS[place]);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [navigate]);
}
