/** A change that nobody can take back, or that many notice: it is asked for once more before it is made. */
import { type ReactNode, useState } from 'react';
import type { CallOf, DataOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { Field } from '../components/field.tsx';
import { TextInput } from '../components/input.tsx';
import { Question } from '../components/question.tsx';
import { problemOf, useChange } from '../queries.ts';

interface ConfirmChangeProps<N extends RouteName> {
  readonly name: N;
  readonly request: CallOf<N>;
  /** A question. */
  readonly title: string;
  /** The button that does it. */
  readonly action: string;
  /** What has to be typed before: the name of what is lost. */
  readonly typed?: { readonly label: string; readonly name: string };
  /** Fields of the request that may be filled in. */
  readonly fields?: ReactNode;
  readonly onDone?: (data: DataOf<N>) => void;
  readonly onClose: () => void;
  /** What will be so afterwards. */
  readonly children: ReactNode;
}

export function ConfirmChange<N extends RouteName>(props: ConfirmChangeProps<N>) {
  const { name, request, title, action, typed, fields, onDone, onClose, children } = props;
  const change = useChange(name);
  const [text, setText] = useState('');
  const onSuccess = (data: DataOf<N>) => {
    onDone?.(data);
    onClose();
  };
  return (
    <Question
      title={title}
      isOpen
      onClose={onClose}
      submit={action}
      onSubmit={() => change.mutate(request, { onSuccess })}
      isBusy={change.isPending}
      isReady={typed === undefined || text.trim() === typed.name}
      problem={change.error ? problemOf(change.error) : undefined}
      below={
        <>
          {fields}
          {typed && (
            <Field label={typed.label}>
              {(ids) => <TextInput ids={ids} isMono value={text} onChange={(event) => setText(event.target.value)} />}
            </Field>
          )}
        </>
      }
    >
      {children}
    </Question>
  );
}
