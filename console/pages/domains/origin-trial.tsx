/** Tries the first origin before there is a domain for it. */
import type { CallOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import { problemOf, useAsk } from '../../queries.ts';
import { addDomainText } from '../../text/add-domain.ts';
import { useText } from '../../text/catalogue.ts';
import { OriginAnswer } from './origin-answer.tsx';
import styles from './origin-trial.module.css';

/** `request`: absent while there is nothing to try. */
export function OriginTrial({ request }: { readonly request: CallOf<'origin.probe'> | undefined }) {
  const t = useText(addDomainText);
  const probe = useAsk('origin.probe');
  const isOfRequest = JSON.stringify(probe.variables) === JSON.stringify(request);
  return (
    <div className={styles['trial']}>
      <div className="row">
        <Button
          disabled={request === undefined}
          isBusy={probe.isPending}
          onClick={() => request && probe.mutate(request)}
        >
          {t.tryOrigin}
        </Button>
        <span className="help">{t.tryOriginHelp}</span>
      </div>
      {isOfRequest && probe.error && <Notice tone="bad">{problemOf(probe.error).text}</Notice>}
      {isOfRequest && probe.data && (
        <section className={styles['answer']} aria-label={t.originAnswer(probe.data.origin)}>
          <OriginAnswer answer={probe.data} />
        </section>
      )}
    </div>
  );
}
