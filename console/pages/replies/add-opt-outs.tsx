/** A button that opens the form of numbers to opt out. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { TextArea } from '../../components/input.tsx';
import { Form } from '../../forms/form.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { repliesText } from '../../text/replies.ts';
import { numbersOf } from '../messages/draft.ts';

export function AddOptOuts() {
  const t = useText(repliesText);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" icon="plus" onClick={() => setOpen(true)}>
        {t.add}
      </Button>
      <Dialog title={t.add} isOpen={isOpen} onClose={() => setOpen(false)}>
        {isOpen && <AddForm onClose={() => setOpen(false)} />}
      </Dialog>
    </>
  );
}

function AddForm({ onClose }: { readonly onClose: () => void }) {
  const t = useText(repliesText);
  const common = useText(commonText);
  const { toasts } = useServices();
  const [text, setText] = useState('');
  const add = useChange('sms.addOptOuts');
  const numbers = numbersOf({ numbers: text });
  const submit = () => {
    if (numbers.length === 0 || add.isPending) return;
    add.mutate(
      { mobile: [...numbers] },
      {
        onSuccess: () => {
          toasts.show({ about: 'opt-outs', title: t.added });
          onClose();
        },
      },
    );
  };
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      actions={
        <>
          <Button kind="primary" type="submit" disabled={numbers.length === 0} isBusy={add.isPending}>
            {t.add}
          </Button>
          <Button onClick={onClose}>{common.cancel}</Button>
        </>
      }
    >
      <Field label={t.numbers} help={t.addHelp} error={add.error ? problemOf(add.error).text : undefined}>
        {(ids) => (
          <TextArea ids={ids} isMono rows={6} value={text} onChange={({ target: { value } }) => setText(value)} />
        )}
      </Field>
    </Form>
  );
}
