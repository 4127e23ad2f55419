/** A dialog from its first opening on. */
import { Dialog } from '@base-ui/react/dialog';
import { classes } from '../lib/classes.ts';
import styles from './dialog.module.css';
import type { DialogProps } from './dialog.tsx';

export function OpenedDialog({
  title,
  isOpen,
  onClose,
  isWide = false,
  isAbove = false,
  footer,
  children,
}: DialogProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles['backdrop']} />
        <Dialog.Popup
          className={classes(styles['dialog'], isWide && styles['wide'])}
          data-above={isAbove ? '' : undefined}
        >
          <Dialog.Title className={styles['title']}>{title}</Dialog.Title>
          <div className={styles['body']}>{children}</div>
          {footer && <footer className={styles['footer']}>{footer}</footer>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
