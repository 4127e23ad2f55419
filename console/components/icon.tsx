/** An icon beside a text, or within a button that has a name. It is never the only carrier of a meaning. */
import styles from './icon.module.css';
import { ICONS, type IconName } from './icons.ts';

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className={styles['icon']} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={ICONS[name]} />
    </svg>
  );
}
