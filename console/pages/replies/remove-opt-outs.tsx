/** Removes the chosen opt-outs after a question: people who opted out may be sent advertising again. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Question } from '../../components/question.tsx';
import { problemOf, useChange } from '../../queries.ts';
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
      <Question
        title={t.removeTitle(numbers.length)}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        submit={t.removeSubmit}
        onSubmit={submit}
        isBusy={remove.isPending}
        problem={remove.error ? problemOf(remove.error) : undefined}
      >
        {t.removeHelp}
      </Question>
    </div>
  );
}
