/** Sending a message: what it is split into and what it costs is shown while it is written. */
import { type Dispatch, type SetStateAction, useState } from 'react';
import { useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { type ControlIds, Field } from '../../components/field.tsx';
import { TextArea, TextInput } from '../../components/input.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Select } from '../../components/select.tsx';
import { Form } from '../../forms/form.tsx';
import { formatAmount } from '../../lib/format-amount.ts';
import { useRead } from '../../queries.ts';
import { readSendQuery } from '../../routes/messaging.ts';
import { PATHS } from '../../routes.ts';
import { usePreference, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { messagesText } from '../../text/messages.ts';
import { sendMessageText } from '../../text/send-message.ts';
import { type Draft, MESSAGE_KINDS } from './draft.ts';
import { PartsPreview } from './parts-preview.tsx';
import { SERVICES } from './service-select.tsx';
import { usePreview } from './use-preview.ts';
import { useSending } from './use-sending.ts';

type App = DataOf<'sms.listApps'>['list'][number];

export function SendMessage() {
  const t = useText(sendMessageText);
  const messages = useText(messagesText);
  const apps = useRead('sms.listApps', SERVICES);
  return (
    <Page title={t.title} back={{ to: PATHS.messages, title: messages.title }} isNarrow>
      <Card>
        <Loaded
          load={apps}
          lines={6}
          isEmpty={({ list }) => list.length === 0}
          empty={<Empty icon="services" title={t.noServices} text={t.noServicesText} />}
        >
          {({ list }) => <SendForm apps={list} />}
        </Loaded>
      </Card>
    </Page>
  );
}

function SendForm({ apps }: { readonly apps: readonly App[] }) {
  const t = useText(sendMessageText);
  const mayWrite = useSession().access.includes('write');
  const [app] = [...apps].sort((a, b) => b.status - a.status);
  const { number: numbers } = readSendQuery(useSearch());
  const [draft, setDraft] = useState<Draft>({ app: app?.app_key ?? '', kind: 'ordinary', numbers, text: '' });
  const [areMeant, setMeant] = useState(false);
  const preview = usePreview(draft, areMeant);
  const sending = useSending(draft);
  const errors = { ...preview.errors, ...sending.errors };
  const { split } = preview;
  const isForNobody = preview.isWhole && split?.numbers === 0;
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        if (preview.isWhole && mayWrite && !isForNobody) sending.submit();
      }}
      problem={sending.problem ?? preview.problem}
      actions={
        <>
          <Button
            kind="primary"
            type="submit"
            isBusy={sending.isPending}
            disabled={!preview.isWhole || !mayWrite || isForNobody}
          >
            <SubmitText split={preview.isWhole ? split : undefined} />
          </Button>
          <Balance />
        </>
      }
    >
      {!mayWrite && <Notice tone="info">{t.readOnly}</Notice>}
      <AppField {...{ apps, draft, setDraft }} error={errors.app} />
      <KindField {...{ draft, setDraft }} />
      <Field
        label={draft.kind === 'advertising' ? t.numbers : t.number}
        help={draft.kind === 'advertising' ? t.numbersHelp : undefined}
        error={errors.numbers ?? (isForNobody ? t.nobody : undefined)}
      >
        {(ids) => (
          <Numbers
            {...{ ids, draft }}
            onChange={(numbers) => {
              setMeant(false);
              setDraft((before) => ({ ...before, numbers }));
            }}
            onLeave={() => setMeant(true)}
          />
        )}
      </Field>
      <Field label={t.content} help={<Counts split={split} />} error={errors.text}>
        {(ids) => (
          <TextArea
            ids={ids}
            rows={5}
            value={draft.text}
            onChange={({ target: { value } }) => setDraft((before) => ({ ...before, text: value }))}
          />
        )}
      </Field>
      {split !== undefined && split.parts.length > 1 && <PartsPreview parts={split.parts} />}
    </Form>
  );
}

interface DraftProps {
  readonly draft: Draft;
  readonly setDraft: Dispatch<SetStateAction<Draft>>;
}

function AppField({
  apps,
  draft,
  setDraft,
  error,
}: DraftProps & { readonly apps: readonly App[]; readonly error: string | undefined }) {
  const t = useText(sendMessageText);
  return (
    <Field label={t.service} error={error}>
      {(ids) => (
        <Select
          ids={ids}
          choices={apps.map(({ app_key, name, status }) => ({
            value: app_key,
            label: status === 1 ? name : t.disabled(name),
          }))}
          value={draft.app}
          onChange={(app) => setDraft((before) => ({ ...before, app }))}
        />
      )}
    </Field>
  );
}

/** Advertising also says when it is sent. */
function KindField({ draft: { app, kind }, setDraft }: DraftProps) {
  const t = useText(sendMessageText);
  const load = useRead('sms.getSettings', { app_key: app }, { isEnabled: kind === 'advertising' });
  const settings = kind === 'advertising' && load.kind === 'ready' ? load.data : undefined;
  const hours =
    settings === undefined || settings.marketing_hours === 'off'
      ? ''
      : ` ${t.hours(settings.marketing_hours, settings.time_zone)}`;
  return (
    <Field label={t.kind} help={t.kindHelp[kind] + hours}>
      {(ids) => (
        <Select
          ids={ids}
          choices={MESSAGE_KINDS.map((value) => ({ value, label: t.kinds[value] }))}
          value={kind}
          onChange={(next) => setDraft((before) => ({ ...before, kind: next }))}
        />
      )}
    </Field>
  );
}

interface NumbersProps {
  readonly ids: ControlIds;
  readonly draft: Draft;
  readonly onChange: (numbers: string) => void;
  readonly onLeave: () => void;
}

function Numbers({ ids, draft: { kind, numbers }, onChange, onLeave }: NumbersProps) {
  const shared = { ids, isMono: true, value: numbers, onBlur: onLeave } as const;
  return kind === 'advertising' ? (
    <TextArea {...shared} rows={4} onChange={({ target: { value } }) => onChange(value)} />
  ) : (
    <TextInput {...shared} inputMode="tel" onChange={({ target: { value } }) => onChange(value)} />
  );
}

/** What the text comes to, said as it is typed. */
function Counts({ split }: { readonly split: DataOf<'sms.split'> | undefined }) {
  const t = useText(sendMessageText);
  if (split === undefined) return <span role="status" />;
  const { characters, alphabet, parts, opted_out } = split;
  const said = [t.characters(characters), t.parts(parts.length), t.alphabets[alphabet]];
  return <span role="status">{[...said, ...(opted_out > 0 ? [t.optedOut(opted_out)] : [])].join(' · ')}</span>;
}

function SubmitText({ split }: { readonly split: DataOf<'sms.split'> | undefined }) {
  const t = useText(sendMessageText);
  const locale = usePreference('locale');
  if (split === undefined) return t.submitPlain;
  return t.submit(t.numberCount(split.numbers), formatAmount(split.price, split, locale));
}

function Balance() {
  const t = useText(sendMessageText);
  const locale = usePreference('locale');
  const load = useRead('sms.balance', {}, { isEnabled: useSession().access.includes('money') });
  if (load.kind !== 'ready') return null;
  return <span className="dim">{t.balance(formatAmount(load.data.balance, load.data, locale))}</span>;
}
