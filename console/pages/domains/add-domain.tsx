/** Adding domains: names, kind, origin, settings to begin with; then how to point them here, followed live. */
import { useState } from 'react';
import { ADD_DOMAIN_OPERATION } from '#contract/changes/add-domain-operation.ts';
import { Later } from '../../components/later.tsx';
import { Page } from '../../components/page.tsx';
import { useForm } from '../../forms/use-form.ts';
import { lazily } from '../../lib/lazily.ts';
import { PATHS } from '../../routes.ts';
import { addDomainText } from '../../text/add-domain.ts';
import { useText } from '../../text/catalogue.ts';
import { domainsText } from '../../text/domains.ts';
import { AddForm, NO_VALUES } from './add-form.tsx';
import { AddResults } from './add-results.tsx';
import { namesOf } from './domain-names.ts';
import { presetOf, presetSet } from './presets.ts';
import { useAddAll } from './use-add-all.ts';

const PointHere = lazily(async () => (await import('./point-here.tsx')).PointHere);

const { request: CONTRACT } = ADD_DOMAIN_OPERATION['domain.add'];

export function AddDomain() {
  const t = useText(addDomainText);
  const domains = useText(domainsText);
  const form = useForm(CONTRACT, NO_VALUES);
  const [preset, setPreset] = useState<ReturnType<typeof presetOf>>();
  const { rows, isBusy, addAll, forget } = useAddAll();
  const [only] = rows.length === 1 ? rows : [];
  const chosen = preset ?? presetOf(form.values.cdn_type);
  const submit = () => void addAll(namesOf(form.values.domain), { ...form.values, set: presetSet(chosen) });
  const correct = () => {
    const refused = rows.filter(({ problem }) => problem !== undefined);
    form.set({ domain: refused.map(({ name }) => name).join('\n') });
    forget();
  };
  return (
    <Page title={t.title} back={{ to: PATHS.domains, title: domains.title }} isNarrow>
      {only?.id !== undefined && (
        <Later as="part">
          <PointHere id={only.id} />
        </Later>
      )}
      {rows.length > 1 && <AddResults rows={rows} isBusy={isBusy} onCorrect={correct} />}
      {rows.length < 2 && only?.id === undefined && (
        <AddForm {...{ form, isBusy }} preset={chosen} onPreset={setPreset} problem={only?.problem} onSubmit={submit} />
      )}
    </Page>
  );
}
