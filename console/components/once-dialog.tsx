/** Something that is shown this once: nothing but its button closes the dialog. */
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface OnceDialogProps {
  readonly title: string;
  /** The button that closes it. */
  readonly done: string;
  /** Buttons beside it. */
  readonly actions?: ReactNode;
  readonly onDone: () => void;
  readonly children: ReactNode;
}

export function OnceDialog({ title, done, actions, onDone, children }: OnceDialogProps) {
  return (
    <Dialog
      title={title}
      isOpen
      onClose={() => undefined} // by Escape, or a press beside it
      footer={
        <>
          {actions}
          <Button kind="primary" onClick={onDone}>
            {done}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
