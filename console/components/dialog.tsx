/** A question, or a small form, before the page. Never opened from another dialog, but for the question for a proof. Its code is loaded when it is first opened. */
import { type ReactNode, useRef } from 'react';
import { lazily } from '../lib/lazily.ts';
import { Later } from './later.tsx';

export interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Others are hidden while it is open. */
  readonly isAbove?: boolean;
  /** Room for tables of differences. */
  readonly isWide?: boolean;
  /** Buttons, the one that acts last. */
  readonly footer?: ReactNode;
  readonly children: ReactNode;
}

const OpenedDialog = lazily(async () => (await import('./opened-dialog.tsx')).OpenedDialog);

export function Dialog(props: DialogProps) {
  const wasOpened = useRef(false);
  wasOpened.current ||= props.isOpen;
  return <Later as="floating">{wasOpened.current && <OpenedDialog {...props} />}</Later>;
}
