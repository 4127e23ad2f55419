/** A secret that only one answer has, to be copied now. */
import type { ReactNode } from 'react';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import { CopyBox } from './copy.tsx';
import { Notice } from './notice.tsx';
import { OnceDialog } from './once-dialog.tsx';

interface ShownOnceProps {
  readonly title: string;
  readonly secret: string;
  /** What is done with it. */
  readonly children?: ReactNode;
  readonly onKept: () => void;
}

export function ShownOnce({ title, secret, children, onKept }: ShownOnceProps) {
  const t = useText(commonText);
  return (
    <OnceDialog title={title} done={t.kept} onDone={onKept}>
      <Notice tone="warn">{t.keepHelp}</Notice>
      <CopyBox text={secret} what={title} />
      {children}
    </OnceDialog>
  );
}
