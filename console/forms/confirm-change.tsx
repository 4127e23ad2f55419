/** A change that nobody can take back, or that many notice: it is asked for once more before it is made. */
import { type ReactNode, useState } from 'react';
import type { CallOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { TextInput } from '../components/input.tsx';
import { Notice } from '../components/notice.tsx';
import { problemOf, useChange } from '../queries.ts';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';

interface ConfirmChangeProps<N extends RouteName> {
  readonly name: N;
  readonly request: CallOf<N>;
  /** A question. */
  readonly title: string;
  /** The button that does it. */
  readonly action: string;
  /** What has to be typed before: the name of what is lost. */
  readonly typed?: { readonly label: string; readonly name: string };
  readonly onDone?: () => void;
  readonly onClose: () => void;
  /** What will be so afterwards. */
  readonly children: ReactNode;
}

export function ConfirmChange<N extends RouteName>(props: ConfirmChangeProps<N>) {
  const { name, request, title, action, typed, onDone, onClose, children } = props;
  const t = useText(commonText);
  const change = useChange(name);
  const [text, setText] = useState('');
  const onSuccess = () => {
    onDone?.();
    onClose();
  };
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button
            kind="danger"
            disabled={typed !== undefined && text.trim() !== typed.name}
            isBusy={change.isPending}
            onClick={() => change.mutate(request, { onSuccess })}
          >
            {action}
          </Button>
        </>
      }
    >
      <p>{children}</p>
      {typed && (
        <Field label={typed.label}>
          {(ids) => <TextInput ids={ids} isMono value={text} onChange={(event) => setText(event.target.value)} />}
        </Field>
      )}
      {change.error && <Notice tone="bad">{problemOf(change.error).text}</Notice>}
    </Dialog>
  );
}
