/** The form: what each line is, is said below it, beside what is left of today's quotas. */
import { type KeyboardEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { TextArea } from '../../components/input.tsx';
import { LineNotes } from '../../components/line-notes.tsx';
import { Form } from '../../forms/form.tsx';
import { formatNumber } from '../../lib/format.ts';
import { problemOf, useChange, useRead } from '../../queries.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { purgeText } from '../../text/purge.ts';
import styles from './address-form.module.css';
import { type Act, type Line, MAX_LINES, purgeOf, quotasOf, readLines } from './lines.ts';

interface AddressFormProps {
  readonly act: Act;
  readonly onStarted: (taskId: string) => void;
}

export function AddressForm({ act, onStarted }: AddressFormProps) {
  const t = useText(purgeText);
  const [text, setText] = useState('');
  const purge = useChange('cache.purge');
  const prefetch = useChange('cache.prefetch');
  const change = act === 'purge' ? purge : prefetch;
  const lines = readLines(text, act);
  const canSend = lines.length > 0 && lines.length <= MAX_LINES && lines.every(({ problem }) => problem === undefined);
  const submit = () => {
    if (!canSend || change.isPending) return;
    const options = {
      onSuccess: ({ task_id }: { readonly task_id: string }) => {
        setText('');
        onStarted(task_id);
      },
    };
    if (act === 'purge') purge.mutate(purgeOf(lines), options);
    else prefetch.mutate({ urls: lines.map(({ text: url }) => url) }, options);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
  };
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      problem={change.error ? problemOf(change.error) : undefined}
      actions={
        <>
          <Button kind="primary" type="submit" disabled={!canSend} isBusy={change.isPending}>
            {t.submit[act]}
          </Button>
          <Quotas act={act} lines={lines} />
        </>
      }
    >
      <Field
        label={t.urls}
        help={t.urlsHelp[act]}
        error={lines.length > MAX_LINES ? t.tooMany(lines.length) : undefined}
      >
        {(ids) => (
          <TextArea
            ids={ids}
            isMono
            rows={6}
            value={text}
            onKeyDown={onKeyDown}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Notes lines={lines} />
    </Form>
  );
}

/** Lines that are directories, and lines that cannot be sent; plain URLs need no word. */
function Notes({ lines }: { readonly lines: readonly Line[] }) {
  const t = useText(purgeText);
  const said = lines.filter(({ kind, problem }) => kind === 'directory' || problem !== undefined);
  const notes = said.map(({ number, text, kind, problem }) =>
    problem === undefined
      ? { text, mark: t.kinds[kind] }
      : { text, mark: t.line(number), problem: t.problems[problem] },
  );
  return <LineNotes notes={notes} />;
}

function Quotas({ act, lines }: { readonly act: Act; readonly lines: readonly Line[] }) {
  const t = useText(purgeText);
  const locale = usePreference('locale');
  const load = useRead('account.getLimits', {});
  if (load.kind !== 'ready') return null;
  const number = (value: number) => formatNumber(value, locale);
  return (
    <dl className={styles['quotas']}>
      {quotasOf(load.data, act, lines).map(({ name, left, limit, asked }) => (
        <div key={name} data-over={asked > left || undefined}>
          <dt>{t.quotas[name]}</dt>
          <dd>{t.quota(number(left), number(limit))}</dd>
        </div>
      ))}
    </dl>
  );
}
