/** A dialog from its first opening on. */
import { Dialog } from '@base-ui/react/dialog';
import { classes } from '../lib/classes.ts';
import { useServices } from '../services.tsx';
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
  const { proofs } = useServices();
  // One press of Escape reaches both; whichever dialog it has closed has prevented its default.
  const isMeant = ({ defaultPrevented }: Event) => isAbove || !(defaultPrevented || proofs.isWanted.get());
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open, { event }) => !open && isMeant(event) && onClose()}>
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
