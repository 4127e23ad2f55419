/** What an account without a domain does first. */
import { LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ADD_DOMAIN_PATH } from '../../routes.ts';
import { useText } from '../../text/catalogue.ts';
import { overviewText } from '../../text/overview.ts';
import styles from './first-steps.module.css';

export function FirstSteps() {
  const t = useText(overviewText);
  const steps = [
    { title: t.stepAdd, help: t.stepAddHelp },
    { title: t.stepPoint, help: t.stepPointHelp },
    { title: t.stepRequest, help: t.stepRequestHelp },
  ];
  return (
    <Card title={t.startTitle}>
      <ol className={styles['steps']}>
        {steps.map(({ title, help }) => (
          <li key={title} className={styles['step']}>
            <em>{title}</em>
            <p className="help">{help}</p>
          </li>
        ))}
      </ol>
      <LinkButton kind="primary" icon="plus" to={ADD_DOMAIN_PATH}>
        {t.stepAdd}
      </LinkButton>
    </Card>
  );
}
