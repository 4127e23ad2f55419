/** Purging a whole domain, which its origin feels: confirmed by typing its name. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Notice } from '../../components/notice.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { purgeText } from '../../text/purge.ts';
import { type DomainChoice, DomainSelect } from '../domains/domain-select.tsx';

interface DomainPurgeDialogProps {
  readonly onClose: () => void;
  readonly onStarted: (taskId: string) => void;
}

export function DomainPurgeDialog({ onClose, onStarted }: DomainPurgeDialogProps) {
  const t = useText(purgeText);
  const common = useText(commonText);
  const [domain, setDomain] = useState<DomainChoice>();
  const [typed, setTyped] = useState('');
  const purge = useChange('cache.purge');
  const start = (domain_id: string) =>
    purge.mutate(
      { domain_id },
      {
        onSuccess: ({ task_id }) => {
          onClose();
          onStarted(task_id);
        },
      },
    );
  return (
    <Dialog
      title={domain === undefined ? t.wholeChoose : t.wholeTitle(domain.name)}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button
            kind="danger"
            disabled={domain === undefined || typed.trim() !== domain.name}
            isBusy={purge.isPending}
            onClick={() => domain && start(domain.id)}
          >
            {t.wholeSubmit}
          </Button>
        </>
      }
    >
      <p>{t.wholeHelp}</p>
      <DomainSelect label={t.domain} none={t.chooseDomain} value={domain?.name ?? ''} onChoose={setDomain} />
      <Field label={t.wholeConfirm}>
        {(ids) => <TextInput ids={ids} isMono value={typed} onChange={(event) => setTyped(event.target.value)} />}
      </Field>
      {purge.error && <Notice tone="bad">{problemOf(purge.error).text}</Notice>}
    </Dialog>
  );
}
