/** The keys that stored secrets are sealed with: one is added, and what has to be done with the file is said. docs/decisions/0718 */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Facts } from '../../../components/detail.tsx';
import { Notice } from '../../../components/notice.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { formatNumber } from '../../../lib/format.ts';
import { usePreference } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { healthText } from '../../../text/health.ts';

type Rotated = DataOf<'operator.rotateKeyring'>;

export function KeyringCard() {
  const t = useText(healthText);
  const [isAsked, setAsked] = useState(false);
  const [rotated, setRotated] = useState<Rotated>();
  return (
    <Card title={t.keyring} actions={<Button onClick={() => setAsked(true)}>{t.rotate}</Button>}>
      <div className="stack">
        <p className="help">{t.keyringHelp}</p>
        {rotated && <Outcome rotated={rotated} />}
      </div>
      {isAsked && (
        <ConfirmChange
          title={t.rotateTitle}
          action={t.rotate}
          name="operator.rotateKeyring"
          request={{}}
          onDone={setRotated}
          onClose={() => setAsked(false)}
        >
          {t.rotateHelp}
        </ConfirmChange>
      )}
    </Card>
  );
}

function Outcome({ rotated: { key_id, secrets, unopened } }: { readonly rotated: Rotated }) {
  const t = useText(healthText);
  const locale = usePreference('locale');
  return (
    <>
      <Facts
        facts={[
          { title: t.newKey, value: <span className="mono">{key_id}</span> },
          { title: t.sealed, value: formatNumber(secrets, locale) },
          {
            title: t.unopened,
            value: unopened === 0 ? undefined : <Badge tone="bad">{formatNumber(unopened, locale)}</Badge>,
          },
        ]}
      />
      <Notice tone="warn">{t.rotated}</Notice>
      {unopened > 0 && <Notice tone="bad">{t.unopenedHelp}</Notice>}
    </>
  );
}
