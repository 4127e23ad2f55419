/** Purge and prefetch: addresses, one a line, and the tasks that were begun with how far each has come. */
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { ACTS, purgePath, readPurgeQuery } from '../../routes/delivery.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { purgeText } from '../../text/purge.ts';
import { AddressForm } from './address-form.tsx';
import { DomainPurgeDialog } from './domain-purge-dialog.tsx';
import { TaskDialog } from './task-dialog.tsx';
import { TaskList } from './task-list.tsx';

export function Purge() {
  const t = useText(purgeText);
  const [, navigate] = useLocation();
  const { act, task } = readPurgeQuery(useSearch());
  const [isWhole, setWhole] = useState(false);
  const mayWrite = useSession().access.includes('write');
  const open = (id: string) => navigate(purgePath({ act, task: id }));
  const whole = mayWrite && act === 'purge' && <Button onClick={() => setWhole(true)}>{t.whole}</Button>;
  return (
    <Page title={t.title} actions={whole}>
      <Tabs
        label={t.act}
        tabs={ACTS.map((one) => ({ to: purgePath({ act: one }), title: t.acts[one], isOpen: one === act }))}
      />
      {mayWrite && (
        <Card title={t.acts[act]} note={t.actHelp[act]}>
          <AddressForm key={act} act={act} onStarted={open} />
        </Card>
      )}
      <TaskList act={act} onOpen={open} />
      {isWhole && <DomainPurgeDialog onClose={() => setWhole(false)} onStarted={open} />}
      {task !== '' && <TaskDialog taskId={task} onClose={() => navigate(purgePath({ act }))} />}
    </Page>
  );
}
