/** Removes the chosen opt-outs after a question: people who opted out may be sent advertising again. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { repliesText } from '../../text/replies.ts';

interface RemoveOptOutsProps {
  readonly numbers: readonly string[];
  readonly onRemoved: () => void;
}

export function RemoveOptOuts({ numbers, onRemoved }: RemoveOptOutsProps) {
  const t = useText(repliesText);
  const common = useText(commonText);
  const { toasts } = useServices();
  const [isAsking, setAsking] = useState(false);
  const remove = useChange('sms.removeOptOuts');
  const submit = () =>
    remove.mutate(
      { mobile: [...numbers] },
      {
        onSuccess: () => {
          toasts.show({ about: 'opt-outs', title: t.removed });
          onRemoved();
        },
      },
    );
  return (
    <div className="row">
      <Button icon="trash" onClick={() => setAsking(true)}>
        {t.remove(numbers.length)}
      </Button>
      <Dialog
        title={t.removeTitle(numbers.length)}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        footer={
          <>
            <Button onClick={() => setAsking(false)}>{common.cancel}</Button>
            <Button kind="danger" isBusy={remove.isPending} onClick={submit}>
              {t.removeSubmit}
            </Button>
          </>
        }
      >
        <p>{t.removeHelp}</p>
        {remove.error && <Notice tone="bad">{problemOf(remove.error).text}</Notice>}
      </Dialog>
    </div>
  );
}
