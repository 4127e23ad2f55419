/** Whether the streams of a domain are recorded, and how long that is kept. */
import type { FormEvent } from 'react';
import { LIVE_RECORDING_OPERATIONS } from '#contract/live/live-recording-operations.ts';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Facts } from '../../components/detail.tsx';
import { Field } from '../../components/field.tsx';
import { NumberInput } from '../../components/input.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Switch } from '../../components/switch.tsx';
import { Form } from '../../forms/form.tsx';
import { useForm } from '../../forms/use-form.ts';
import { isChangedMeanwhile, problemOf, useChange, useRead } from '../../queries.ts';
import { useServices, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { liveHistoryText } from '../../text/live-history.ts';

const CONTRACT = LIVE_RECORDING_OPERATIONS['live.setRecording'].request;

type Stored = DataOf<'live.getRecording'>;

export function RecordingSettings({ domain }: { readonly domain: string }) {
  const t = useText(liveHistoryText);
  const load = useRead('live.getRecording', { domain });
  const mayWrite = useSession().access.includes('write');
  return (
    <Card title={t.recordingSettings}>
      <Loaded load={load} lines={2}>
        {(stored) =>
          mayWrite ? (
            <SettingsForm key={`${stored.record} ${stored.keep_days}`} {...{ domain, stored }} />
          ) : (
            <Shown stored={stored} />
          )
        }
      </Loaded>
    </Card>
  );
}

function Shown({ stored: { record, keep_days } }: { readonly stored: Stored }) {
  const t = useText(liveHistoryText);
  const common = useText(commonText);
  return (
    <Facts
      facts={[
        { title: t.record, value: record === '1' ? common.on : common.off },
        { title: t.keepDays, value: `${keep_days} ${t.days}` },
      ]}
    />
  );
}

interface SettingsFormProps {
  readonly domain: string;
  readonly stored: Stored;
}

/** What others have changed meanwhile, of these settings or of others of the domain, is refused to be overwritten. */
function SettingsForm({ domain, stored: { record, keep_days, revision } }: SettingsFormProps) {
  const t = useText(liveHistoryText);
  const { toasts } = useServices();
  const save = useChange('live.setRecording');
  const { values, set, errors, leave, check } = useForm(CONTRACT, { domain, record, keep_days: String(keep_days) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!check() || save.isPending) return;
    const onSuccess = () => toasts.show({ about: `recording ${domain}`, title: t.saved });
    save.mutate({ ...values, if_revision: revision }, { onSuccess });
  };
  return (
    <Form
      onSubmit={submit}
      actions={
        <Button kind="primary" type="submit" isBusy={save.isPending}>
          {t.save}
        </Button>
      }
    >
      <Field isRow label={t.record} help={t.recordHelp} error={errors.record}>
        {(ids) => (
          <Switch ids={ids} isOn={values.record === '1'} onChange={(isOn) => set({ record: isOn ? '1' : '0' })} />
        )}
      </Field>
      <Field isRow label={t.keepDays} help={t.keepDaysHelp} error={errors.keep_days}>
        {(ids) => (
          <NumberInput
            ids={ids}
            unit={t.days}
            value={values.keep_days}
            onBlur={() => leave('keep_days')}
            onChange={({ target: { value } }) => set({ keep_days: value })}
          />
        )}
      </Field>
      {save.error && (
        <Notice tone="bad">{isChangedMeanwhile(save.error) ? t.changedMeanwhile : problemOf(save.error).text}</Notice>
      )}
    </Form>
  );
}
