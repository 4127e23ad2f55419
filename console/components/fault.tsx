/** What stands in the place of something that has failed: what happened, what to do, and what to report of a fault of the console. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { faultReport } from '../lib/fault-report.ts';
import { NotLoaded } from '../lib/lazily.ts';
import { useStore } from '../lib/store.ts';
import { useServices } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { faultText } from '../text/fault.ts';
import type { Fault } from './boundary.tsx';
import { Button } from './button.tsx';
import { CopyBox } from './copy.tsx';
import styles from './fault.module.css';
import { Icon } from './icon.tsx';
import { Page } from './page.tsx';

export function PageFault(fault: Fault) {
  const t = useText(faultText);
  return (
    <Page title={t.title}>
      <PartFault {...fault} />
    </Page>
  );
}

export function FloatingFault(fault: Fault) {
  return (
    <div className={styles['floating']}>
      <PartFault {...fault} />
    </div>
  );
}

export function PartFault({ error, onRetry }: Fault) {
  return (
    <div className={styles['fault']} role="alert">
      <Icon name="warning" />
      {error instanceof NotLoaded ? <NotLoadedWords /> : <FaultWords error={error} onRetry={onRetry} />}
    </div>
  );
}

function NotLoadedWords() {
  const t = useText(faultText);
  const { reload, drafts } = useServices();
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState<string>();
  const hasDrafts = [...useStore(drafts).values()].some(({ size }) => size > 0);
  const again = async () => {
    setAsking(true);
    setProblem(await reload());
    setAsking(false);
  };
  return (
    <>
      <p>
        <em>{t.notLoaded}</em>
      </p>
      <p className="help">{t.notLoadedHelp}</p>
      {hasDrafts && <p className="help">{t.draftsAreLost}</p>}
      {problem !== undefined && <p className={styles['problem']}>{problem}</p>}
      <Button kind="primary" isBusy={isAsking} onClick={() => void again()}>
        {t.tryAgain}
      </Button>
    </>
  );
}

function FaultWords({ error, onRetry }: Fault) {
  const t = useText(faultText);
  const queries = useQueryClient();
  const [report] = useState(() =>
    faultReport(error, { path: location.pathname, now: Date.now(), browser: navigator.userAgent }),
  );
  const again = () => {
    queries.removeQueries({ type: 'inactive' }); // what it failed on is read anew
    onRetry();
  };
  return (
    <>
      <p>
        <em>{t.failed}</em>
      </p>
      <p className="help">{t.failedHelp}</p>
      <div className={styles['report']}>
        <CopyBox text={report} what={t.report} />
      </div>
      <Button onClick={again}>{t.tryAgain}</Button>
    </>
  );
}
