/** Adding domains: names, kind, origin; then how to point them here, followed live. */
import { useState } from 'react';
import { ADD_DOMAIN_OPERATION } from '#contract/changes/add-domain-operation.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { TextArea, TextInput } from '../../components/input.tsx';
import type { Problem } from '../../components/load.ts';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Select } from '../../components/select.tsx';
import { Form } from '../../forms/form.tsx';
import { type FormState, useForm } from '../../forms/use-form.ts';
import { problemOf, useChange } from '../../queries.ts';
import { domainPath, PATHS } from '../../routes.ts';
import { addDomainText } from '../../text/add-domain.ts';
import { useText } from '../../text/catalogue.ts';
import { domainsText } from '../../text/domains.ts';
import { MAX_NAMES, namesOf } from './domain-names.ts';
import { PointHere } from './point-here.tsx';
import { TypeCards } from './type-cards.tsx';

const { request: CONTRACT } = ADD_DOMAIN_OPERATION['domain.add'];

interface Values extends Readonly<Record<string, unknown>> {
  readonly domain: string;
  readonly cdn_type: '1' | '2' | '3' | '4' | '6';
  readonly data: string;
  readonly source_type: 'http' | 'https' | 'protocol_follow';
  readonly sourcehost: string;
}

const EMPTY: Values = { domain: '', cdn_type: '1', data: '', source_type: 'http', sourcehost: '' };

interface Result {
  readonly added: readonly string[];
  readonly failed: readonly { readonly name: string; readonly problem: Problem }[];
}

export function AddDomain() {
  const t = useText(addDomainText);
  const domains = useText(domainsText);
  const [result, setResult] = useState<Result>();
  const [firstId] = result?.added ?? [];
  return (
    <Page title={t.title} back={{ to: PATHS.domains, title: domains.title }} isNarrow>
      {result && result.failed.length > 0 && (
        <Notice tone="bad">
          {t.failed}
          <ul>
            {result.failed.map(({ name, problem }) => (
              <li key={name}>
                <span className="mono">{name}</span> {problem.text}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {firstId === undefined ? (
        <AddForm onDone={setResult} />
      ) : (
        <>
          {result?.added.map((id) => (
            <PointHere key={id} id={id} isOnly={result.added.length === 1} />
          ))}
          <div className="row">
            <LinkButton kind="primary" to={result?.added.length === 1 ? domainPath(firstId) : PATHS.domains}>
              {result?.added.length === 1 ? t.toDomain : t.toDomains}
            </LinkButton>
          </div>
        </>
      )}
    </Page>
  );
}

function AddForm({ onDone }: { readonly onDone: (result: Result) => void }) {
  const t = useText(addDomainText);
  const form = useForm(CONTRACT, EMPTY);
  const add = useChange('domain.add');
  const [progress, setProgress] = useState<string>();
  const names = namesOf(form.values.domain);
  const addAll = async () => {
    const added: string[] = [];
    const failed: Result['failed'][number][] = [];
    for (const [n, name] of names.entries()) {
      setProgress(t.adding(n, names.length));
      await add
        .mutateAsync({ ...form.values, domain: name })
        .then(({ domain_id }) => added.push(domain_id))
        .catch((error: unknown) => failed.push({ name, problem: problemOf(error) }));
    }
    setProgress(undefined);
    onDone({ added, failed });
  };
  return (
    <Card>
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          if (form.check() && names.length <= MAX_NAMES) void addAll();
        }}
        actions={
          <>
            <Button kind="primary" type="submit" isBusy={progress !== undefined}>
              {t.submit(names.length)}
            </Button>
            <span role="status">{progress}</span>
          </>
        }
      >
        <AddFields form={form} error={names.length > MAX_NAMES ? t.tooMany : form.errors.domain} />
      </Form>
    </Card>
  );
}

interface AddFieldsProps {
  readonly form: FormState<Values>;
  /** Problem of the names. */
  readonly error: string | undefined;
}

function AddFields({ form: { values, set, errors, leave }, error }: AddFieldsProps) {
  const t = useText(addDomainText);
  const protocols = Object.entries(t.protocols).map(([value, label]) => ({ value, label }));
  return (
    <>
      <Field label={t.names} help={t.namesHelp} error={error}>
        {(ids) => (
          <TextArea
            ids={ids}
            isMono
            rows={2}
            value={values.domain}
            onChange={(event) => set({ domain: event.target.value })}
            onBlur={() => values.domain !== '' && leave('domain')}
          />
        )}
      </Field>
      <TypeCards value={values.cdn_type} onChange={(cdn_type) => set({ cdn_type })} />
      <Field label={t.origins} help={t.originsHelp} error={errors.data}>
        {(ids) => (
          <TextArea
            ids={ids}
            isMono
            rows={2}
            value={values.data}
            onChange={(event) => set({ data: event.target.value })}
            onBlur={() => leave('data')}
          />
        )}
      </Field>
      <Field label={t.protocol}>
        {(ids) => (
          <Select
            ids={ids}
            choices={protocols}
            value={values.source_type}
            onChange={(source_type) => set({ source_type: source_type as Values['source_type'] })} // one of the choices
          />
        )}
      </Field>
      <Field label={t.host} help={t.hostHelp} error={errors.sourcehost}>
        {(ids) => (
          <TextInput
            ids={ids}
            isMono
            value={values.sourcehost}
            onChange={(event) => set({ sourcehost: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}
