/** A connector is added or changed: the fields of the contract, those that most carriers need first. */
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { SMS_OPERATOR_OPERATIONS } from '#contract/sms/sms-operator-operations.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Page } from '../../../components/page.tsx';
import { ContractField } from '../../../forms/contract-field.tsx';
import { type FormState, useForm } from '../../../forms/use-form.ts';
import { isChangedMeanwhile, problemOf, useChange, useRead } from '../../../queries.ts';
import { readConnectorName } from '../../../routes/operators.ts';
import { PATHS } from '../../../routes.ts';
import { useServices } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { commonText } from '../../../text/common.ts';
import { CONNECTOR_NAME, CONNECTOR_WORDS } from '../../../text/connector-fields.ts';
import { connectorsText } from '../../../text/connectors.ts';
import { changedSettings, connectorValues, hasField, type Values } from './connector-values.ts';

type Connector = DataOf<'smsOperator.listConnectors'>['list'][number];

const { request: CONTRACT } = SMS_OPERATOR_OPERATIONS['smsOperator.setConnector'];

const COMMON = [
  ...(['kind', 'host', 'port', 'tls', 'system_id', 'account', 'password', 'system_type'] as const),
  ...(['corp_id', 'service_id', 'sender', 'rate', 'window'] as const),
] as const;

type FieldName = keyof typeof CONNECTOR_WORDS;

export function EditConnector() {
  const t = useText(connectorsText);
  const name = readConnectorName(useSearch());
  const isNew = name === '';
  const load = useRead('smsOperator.listConnectors', {}, { isEnabled: !isNew });
  return (
    <Page title={isNew ? t.add : t.editTitle(name)} back={{ to: PATHS.connectors, title: t.title }} isNarrow>
      {isNew ? (
        <ConnectorForm stored={undefined} />
      ) : (
        <Loaded
          load={load}
          lines={8}
          isEmpty={({ list }) => list.every((one) => one.name !== name)}
          empty={<Empty icon="search" title={t.noConnectors} />}
        >
          {({ list }) => <ConnectorForm key={name} stored={list.find((one) => one.name === name)} />}
        </Loaded>
      )}
    </Page>
  );
}

function ConnectorForm({ stored: latest }: { readonly stored: Connector | undefined }) {
  // What others store meanwhile is refused to be overwritten by its revision.
  const [stored] = useState(latest);
  const t = useText(connectorsText);
  const common = useText(commonText);
  const [, navigate] = useLocation();
  const { toasts } = useServices();
  const save = useChange('smsOperator.setConnector');
  const form = useForm<Values>(CONTRACT, connectorValues(stored));
  const submit = () => {
    if (!form.check()) return;
    const { name, ...changed } = changedSettings(stored, form.values);
    const revision = stored && { if_revision: stored.revision };
    // `as`: the contract has nothing against the values.
    save.mutate({ name, ...changed, ...revision } as CallOf<'smsOperator.setConnector'>, {
      onSuccess: () => {
        toasts.show({ about: `connector ${name}`, title: t.saved(String(name)) });
        navigate(PATHS.connectors);
      },
    });
  };
  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Card isFlush>
        {stored === undefined && <Row form={form} name="name" />}
        {COMMON.map((name) => (
          <Row key={name} {...{ form, name }} />
        ))}
        <p className="help pad">{stored === undefined ? t.moreLater : t.passwordKept}</p>
      </Card>
      {stored !== undefined && form.values['kind'] !== 'loopback' && (
        <Card title={t.advanced} isFlush>
          {REST.map((name) => (
            <Row key={name} {...{ form, name }} />
          ))}
        </Card>
      )}
      {save.error && (
        <Notice tone="bad">{isChangedMeanwhile(save.error) ? t.changedMeanwhile : problemOf(save.error).text}</Notice>
      )}
      <div className="row">
        <Button kind="primary" type="submit" isBusy={save.isPending}>
          {t.save}
        </Button>
        <LinkButton to={PATHS.connectors}>{common.cancel}</LinkButton>
      </div>
    </form>
  );
}

// `as`: its own keys; turning it on and off is not in the form.
const REST = (Object.keys(CONNECTOR_WORDS) as FieldName[]).filter(
  (name) => name !== 'enabled' && !COMMON.some((common) => common === name),
);

function Row({ form, name }: { readonly form: FormState<Values>; readonly name: FieldName | 'name' }) {
  if (name !== 'name' && !hasField(form.values, name)) return null;
  return (
    <ContractField
      form={form}
      fields={CONTRACT.fields}
      name={name}
      words={name === 'name' ? CONNECTOR_NAME : CONNECTOR_WORDS[name]}
      isRow
    />
  );
}
