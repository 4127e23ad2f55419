/** The remark of a domain, which nobody but people reads. */
import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Form } from '../../forms/form.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import type { DomainData } from './domain.tsx';

interface RemarkDialogProps {
  readonly domain: DomainData;
  readonly onClose: () => void;
}

export function RemarkDialog({ domain: { domain_id, remark: stored }, onClose }: RemarkDialogProps) {
  const t = useText(domainViewsText);
  const common = useText(commonText);
  const { toasts } = useServices();
  const [remark, setRemark] = useState(stored);
  const change = useChange('domain.setRemark');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (change.isPending) return;
    const onSuccess = () => {
      toasts.show({ about: `domain ${domain_id}`, title: t.remarkSaved });
      onClose();
    };
    change.mutate({ domain_id, remark: remark.trim() }, { onSuccess });
  };
  return (
    <Dialog title={t.changeRemark} isOpen onClose={onClose}>
      <Form
        onSubmit={submit}
        problem={change.error ? problemOf(change.error) : undefined}
        actions={
          <>
            <Button kind="primary" type="submit" isBusy={change.isPending}>
              {t.saveRemark}
            </Button>
            <Button onClick={onClose}>{common.cancel}</Button>
          </>
        }
      >
        <Field label={t.remark} help={t.remarkHelp}>
          {(ids) => <TextInput ids={ids} value={remark} onChange={({ target }) => setRemark(target.value)} />}
        </Field>
      </Form>
    </Dialog>
  );
}
