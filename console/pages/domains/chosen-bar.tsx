/** What can be done with the chosen domains together; each has a result of its own. */
import { useState } from 'react';
import { Button, LinkButton } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import { StickyBar } from '../../components/sticky-bar.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { changeDomainsPath, MAX_CHANGED_DOMAINS } from '../../routes/domains.ts';
import { useText } from '../../text/catalogue.ts';
import { domainsText } from '../../text/domains.ts';
import type { BriefDomain } from './domains.tsx';

interface ChosenBarProps {
  readonly domains: readonly BriefDomain[];
  readonly onDone: () => void;
}

export function ChosenBar({ domains, onDone }: ChosenBarProps) {
  const t = useText(domainsText);
  const setStatus = useChange('domain.setStatus');
  const [failures, setFailures] = useState<readonly string[]>([]);
  const [progress, setProgress] = useState<string>();
  if (domains.length === 0 && failures.length === 0) return null;
  const setAll = async (domain_status: '0' | '2') => {
    const failed: string[] = [];
    for (const [n, { domain_id, domain_name }] of domains.entries()) {
      setProgress(t.done(n, domains.length));
      await setStatus
        .mutateAsync({ domain_id, domain_status })
        .catch((error: unknown) => failed.push(t.failed(domain_name, problemOf(error).text)));
    }
    setProgress(undefined);
    setFailures(failed);
    onDone();
  };
  return (
    <StickyBar label={t.chosen(domains.length)}>
      {failures.map((text) => (
        <Notice key={text} tone="bad">
          {text}
        </Notice>
      ))}
      {domains.length > 0 && (
        <div className="row">
          <span className="grow" role="status">
            {progress ?? t.chosen(domains.length)}
          </span>
          <Button isBusy={progress !== undefined} onClick={() => void setAll('0')}>
            {t.close}
          </Button>
          <Button isBusy={progress !== undefined} onClick={() => void setAll('2')}>
            {t.open}
          </Button>
          {domains.length > MAX_CHANGED_DOMAINS ? (
            <span className="help">{t.tooMany(MAX_CHANGED_DOMAINS)}</span>
          ) : (
            <LinkButton to={changeDomainsPath(domains.map(({ domain_id }) => domain_id))}>{t.change}</LinkButton>
          )}
        </div>
      )}
    </StickyBar>
  );
}
