/** Removes the chosen opt-outs after a question: people who opted out may be sent advertising again. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { repliesText } from '../../text/replies.ts';

interface RemoveOptOutsProps {
  readonly numbers: readonly string[];
  readonly onRemoved: () => void;
}

export function RemoveOptOuts({ numbers, onRemoved }: RemoveOptOutsProps) {
  const t = useText(repliesText);
  const { toasts } = useServices();
  const [isAsking, setAsking] = useState(false);
  const onDone = () => {
    toasts.show({ about: 'opt-outs', title: t.removed });
    onRemoved();
  };
  return (
    <div className="row">
      <Button icon="trash" onClick={() => setAsking(true)}>
        {t.remove(numbers.length)}
      </Button>
      {isAsking && (
        <ConfirmChange
          title={t.removeTitle(numbers.length)}
          action={t.removeSubmit}
          name="sms.removeOptOuts"
          request={{ mobile: [...numbers] }}
          onDone={onDone}
          onClose={() => setAsking(false)}
        >
          {t.removeHelp}
        </ConfirmChange>
      )}
    </div>
  );
}
