/** The price and the route of a number, by the longest prefix. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Field } from '../../../components/field.tsx';
import { TextInput } from '../../../components/input.tsx';
import { Form } from '../../../forms/form.tsx';
import { formatAmount } from '../../../lib/format-amount.ts';
import { problemOf, useAsk } from '../../../queries.ts';
import { usePreference } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { connectorsText } from '../../../text/connectors.ts';

export function NumberTest() {
  const t = useText(connectorsText);
  const [mobile, setMobile] = useState('');
  const ask = useAsk('smsOperator.testNumber');
  return (
    <Card title={t.number}>
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          if (mobile.trim() !== '') ask.mutate({ mobile });
        }}
        problem={ask.error ? problemOf(ask.error) : undefined}
        actions={
          <Button type="submit" isBusy={ask.isPending}>
            {t.tryIt}
          </Button>
        }
      >
        <Field label={t.mobile}>
          {(ids) => (
            <TextInput
              ids={ids}
              isMono
              inputMode="tel"
              value={mobile}
              onChange={(event) => setMobile(event.target.value)}
            />
          )}
        </Field>
        {ask.data && <Outcome outcome={ask.data} />}
      </Form>
    </Card>
  );
}

function Outcome({ outcome }: { readonly outcome: DataOf<'smsOperator.testNumber'> }) {
  const t = useText(connectorsText);
  const locale = usePreference('locale');
  const { price, price_prefix, connectors, route_prefix } = outcome;
  return (
    <div role="status">
      <p>{t.result(formatAmount(price, outcome, locale), price_prefix || t.others)}</p>
      <p>{connectors.length === 0 ? t.noRoute : t.route(connectors.join(' → '), route_prefix || t.others)}</p>
    </div>
  );
}
