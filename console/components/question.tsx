/** A question before something that is hard to undo: its effect, and the button that does it. */
import type { ReactNode } from 'react';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import type { Problem } from './load.ts';
import { Notice } from './notice.tsx';

interface QuestionProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Text of the button. */
  readonly submit: string;
  readonly onSubmit: () => void;
  readonly isBusy: boolean;
  /** Whether it can be done; absent: yes. */
  readonly isReady?: boolean;
  /** Why the last attempt did not succeed. */
  readonly problem: Problem | undefined;
  /** What has to be given before. */
  readonly below?: ReactNode;
  readonly children: ReactNode;
}

export function Question(props: QuestionProps) {
  const { title, isOpen, onClose, submit, onSubmit, isBusy, isReady = true, problem, below, children } = props;
  const t = useText(commonText);
  return (
    <Dialog
      title={title}
      isOpen={isOpen}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button kind="danger" disabled={!isReady} isBusy={isBusy} onClick={onSubmit}>
            {submit}
          </Button>
        </>
      }
    >
      <p>{children}</p>
      {below}
      {problem && <Notice tone="bad">{problem.text}</Notice>}
    </Dialog>
  );
}
