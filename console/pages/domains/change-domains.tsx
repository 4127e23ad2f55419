/** Changing the same settings of several domains: chosen one by one, or copied; tried first, with a result for each domain. */
import { useState } from 'react';
import { useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { problemOf, useAsk, useChange, useRead } from '../../queries.ts';
import { readChangedDomains } from '../../routes/domains.ts';
import { PATHS } from '../../routes.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { changeDomainsText } from '../../text/change-domains.ts';
import { domainText } from '../../text/domain.ts';
import { domainsText } from '../../text/domains.ts';
import { type Draft, draftProblems, NO_DRAFT, toSet } from '../domain/settings-draft.ts';
import { ChangeResults, willChange } from './change-results.tsx';
import { ChangedSettings } from './changed-settings.tsx';
import type { BriefDomain } from './domains.tsx';

export function ChangeDomains() {
  const t = useText(changeDomainsText);
  const domains = useText(domainsText);
  const ids = readChangedDomains(useSearch());
  const request = { domain_ids: ids, page_size: Math.max(ids.length, 1), sort: 'name' } as const;
  const load = useRead('domain.listBrief', request, { isEnabled: ids.length > 0 });
  const empty = <Empty icon="domains" title={t.none} action={<LinkButton to={PATHS.domains}>{t.choose}</LinkButton>} />;
  return (
    <Page title={t.title(ids.length)} back={{ to: PATHS.domains, title: domains.title }}>
      {ids.length === 0 ? (
        empty
      ) : (
        <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={empty}>
          {({ list: [first, ...others] }) => first && <ChangeForm key={ids.join()} domains={[first, ...others]} />}
        </Loaded>
      )}
    </Page>
  );
}

type Results = DataOf<'domain.changeMany'>['list'];

/** The domains that are chosen, at least one. */
export type ChosenDomains = readonly [BriefDomain, ...BriefDomain[]];

function ChangeForm({ domains }: { readonly domains: ChosenDomains }) {
  const t = useText(changeDomainsText);
  const [draft, setDraft] = useState<Draft>(NO_DRAFT);
  const [done, setDone] = useState<Results>();
  const dryRun = useAsk('domain.changeMany');
  const change = useChange('domain.changeMany');
  const request = { domain_ids: domains.map(({ domain_id }) => domain_id), set: toSet(draft) };
  const error = change.error ?? dryRun.error;
  const found = dryRun.data?.list;
  const apply = () => change.mutate(request, { onSuccess: ({ list }) => setDone(list) });
  if (done !== undefined) return <Done results={done} />;
  return (
    <>
      <ChangedSettings
        {...{ domains, draft }}
        onChange={(next) => {
          setDraft(next);
          dryRun.reset(); // it was about other settings
          change.reset();
        }}
      />
      {error && <Notice tone="bad">{problemOf(error).text}</Notice>}
      {found && (
        <Card title={t.willChange} note={<Summary results={found} />} isFlush>
          <ChangeResults results={found} />
        </Card>
      )}
      <div className="row">
        {found ? (
          <Button kind="primary" disabled={!found.some(willChange)} isBusy={change.isPending} onClick={apply}>
            {t.apply(found.filter(willChange).length)}
          </Button>
        ) : (
          <ReviewButton
            draft={draft}
            isBusy={dryRun.isPending}
            onReview={() => dryRun.mutate({ ...request, dry_run: 1 })}
          />
        )}
      </div>
    </>
  );
}

interface ReviewButtonProps {
  readonly draft: Draft;
  readonly isBusy: boolean;
  readonly onReview: () => void;
}

function ReviewButton({ draft, isBusy, onReview }: ReviewButtonProps) {
  const t = useText(domainText);
  const wrong = draftProblems(draft, usePreference('locale')).size;
  return (
    <>
      <Button kind="primary" disabled={draft.size === 0 || wrong > 0} isBusy={isBusy} onClick={onReview}>
        {t.review}
      </Button>
      {wrong > 0 && <span role="status">{t.wrong(wrong)}</span>}
    </>
  );
}

function Done({ results }: { readonly results: Results }) {
  const t = useText(changeDomainsText);
  return (
    <>
      <Card title={t.wasChanged} note={<Summary results={results} isDone />} isFlush>
        <ChangeResults results={results} isDone />
      </Card>
      <p className="help">{t.undoHelp}</p>
      <div className="row">
        <LinkButton kind="primary" to={PATHS.domains}>
          {t.toDomains}
        </LinkButton>
      </div>
    </>
  );
}

function Summary({ results, isDone = false }: { readonly results: Results; readonly isDone?: boolean }) {
  const t = useText(changeDomainsText);
  const refused = results.filter(({ error }) => error !== null).length;
  const changed = results.filter(willChange).length;
  const summary = isDone ? t.summaryDone : t.summary;
  return <span role="status">{summary(changed, results.length - changed - refused, refused)}</span>;
}
