/** What an edge would do with a request, as a line of stages. */
import { type FormEvent, useState } from 'react';
import { useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { TextArea, TextInput } from '../../components/input.tsx';
import { Form } from '../../forms/form.tsx';
import { problemOf, useAsk } from '../../queries.ts';
import { readExplainQuery } from '../../routes/domains.ts';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import type { DomainData } from './domain.tsx';
import styles from './explain-tab.module.css';

export function ExplainTab({ domain: { domain_id, domain_name, ssl_control } }: { readonly domain: DomainData }) {
  const t = useText(domainViewsText);
  const ask = useAsk('domain.explain');
  const given = readExplainQuery(useSearch()).url;
  const scheme = ssl_control === '1' ? 'https' : 'http';
  const [url, setUrl] = useState(given || `${scheme}://${domain_name.replace(/^\*\./, 'www.')}/`);
  const [method, setMethod] = useState('GET');
  const [headers, setHeaders] = useState('');
  const [client, setClient] = useState('');
  const send = (event: FormEvent) => {
    event.preventDefault();
    ask.mutate({ domain_id, url: url.trim(), method: method.trim().toUpperCase(), headers, client: client.trim() });
  };
  return (
    <div className="columns">
      <Card title={t.explain}>
        <Form
          onSubmit={send}
          problem={ask.error ? problemOf(ask.error) : undefined}
          actions={
            <Button kind="primary" type="submit" isBusy={ask.isPending}>
              {t.explain}
            </Button>
          }
        >
          <p className="help">{t.explainHelp}</p>
          <Field label={t.url}>
            {(ids) => <TextInput ids={ids} isMono value={url} onChange={(event) => setUrl(event.target.value)} />}
          </Field>
          <Field label={t.method}>
            {(ids) => <TextInput ids={ids} isMono value={method} onChange={(event) => setMethod(event.target.value)} />}
          </Field>
          <Field label={t.headers} help={t.headersHelp}>
            {(ids) => (
              <TextArea ids={ids} isMono value={headers} onChange={(event) => setHeaders(event.target.value)} />
            )}
          </Field>
          <Field label={t.client} help={t.clientHelp}>
            {(ids) => <TextInput ids={ids} isMono value={client} onChange={(event) => setClient(event.target.value)} />}
          </Field>
        </Form>
      </Card>
      {ask.data && <Answer data={ask.data} />}
    </div>
  );
}

function Answer({ data: { x_cache, edge, asks_origin, steps, origins } }: { readonly data: DataOf<'domain.explain'> }) {
  const t = useText(domainViewsText);
  return (
    <Card title={x_cache === '' ? t.noHandshake : x_cache} note={t.edge(edge)}>
      <p>{asks_origin === '1' ? t.asksOrigin : t.asksNoOrigin}</p>
      <ol className={styles['steps']}>
        {steps.map(({ stage, found }) => (
          <li key={stage} className={styles['step']}>
            <em>{stage}</em>
            <p className="help wrap">{found}</p>
          </li>
        ))}
      </ol>
      {origins.map(({ origin, state }) => (
        <p key={origin} className="row">
          <span className="mono wrap">{origin}</span>
          <Badge tone={state === 'usable' ? 'ok' : 'bad'}>{t.originStates[state]}</Badge>
        </p>
      ))}
    </Card>
  );
}
