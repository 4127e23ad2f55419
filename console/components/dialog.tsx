/** A question, or a small form, before the page. Never opened from another dialog. */
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';
import { classes } from '../lib/classes.ts';
import styles from './dialog.module.css';
import { FloatingRoot } from './floating.tsx';

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Room for tables of differences. */
  readonly isWide?: boolean;
  /** Buttons, the one that acts last. */
  readonly footer?: ReactNode;
  readonly children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, isWide = false, footer, children }: DialogProps) {
  const [popup, setPopup] = useState<HTMLElement | null>(null);
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles['backdrop']} />
        <BaseDialog.Popup ref={setPopup} className={classes(styles['dialog'], isWide && styles['wide'])}>
          <FloatingRoot value={popup}>
            <BaseDialog.Title className={styles['title']}>{title}</BaseDialog.Title>
            <div className={styles['body']}>{children}</div>
            {footer && <footer className={styles['footer']}>{footer}</footer>}
          </FloatingRoot>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
