/** What is done to a connector: tested, changed, turned on and off, deleted. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Menu } from '../../../components/menu.tsx';
import { Notice } from '../../../components/notice.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { useAtOnce } from '../../../forms/use-at-once.ts';
import { problemOf, useAsk } from '../../../queries.ts';
import { editConnectorPath } from '../../../routes/operators.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { commonText } from '../../../text/common.ts';
import { connectorsText } from '../../../text/connectors.ts';

interface ConnectorActionsProps {
  readonly name: string;
  readonly isEnabled: boolean;
}

export function ConnectorActions({ name, isEnabled }: ConnectorActionsProps) {
  const t = useText(connectorsText);
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<'disable' | 'delete'>();
  const test = useAsk('smsOperator.testConnector');
  const { run: change } = useAtOnce('smsOperator.setConnector');
  const close = () => setAsked(undefined);
  if (!useSession().access.includes('write')) return null;
  const items = [
    { title: t.edit, icon: 'settings', onChoose: () => navigate(editConnectorPath(name)) } as const,
    isEnabled
      ? ({ title: t.disable, icon: 'pause', onChoose: () => setAsked('disable') } as const)
      : ({
          title: t.enable,
          icon: 'play',
          onChoose: () => change({ name, enabled: '1' }, { about: `connector ${name}`, name }),
        } as const),
    { title: t.delete, icon: 'trash', onChoose: () => setAsked('delete') } as const,
  ];
  return (
    <>
      <Button title={t.testOf(name)} isBusy={test.isPending} onClick={() => test.mutate({ name })}>
        {t.test}
      </Button>
      <Menu label={`${t.actions}: ${name}`} icon="more" groups={[{ items }]} />
      <TestDialog {...{ name, test }} />
      {asked === 'disable' && (
        <ConfirmChange
          title={t.disableTitle(name)}
          action={t.disable}
          name="smsOperator.setConnector"
          request={{ name, enabled: '0' }}
          onClose={close}
        >
          {t.disableHelp}
        </ConfirmChange>
      )}
      {asked === 'delete' && (
        <ConfirmChange
          title={t.deleteTitle(name)}
          action={t.delete}
          name="smsOperator.deleteConnector"
          request={{ name }}
          typed={{ label: t.typeName, name }}
          onClose={close}
        >
          {t.deleteHelp}
        </ConfirmChange>
      )}
    </>
  );
}

interface TestDialogProps {
  readonly name: string;
  readonly test: ReturnType<typeof useAsk<'smsOperator.testConnector'>>;
}

/** Opens when the outcome is there. */
function TestDialog({ name, test: { data, error, reset } }: TestDialogProps) {
  const t = useText(connectorsText);
  const common = useText(commonText);
  return (
    <Dialog
      title={t.testOf(name)}
      isOpen={data !== undefined || error !== null}
      onClose={reset}
      footer={<Button onClick={reset}>{common.close}</Button>}
    >
      {data?.bound === '1' && <p>{t.bound}</p>}
      {data?.bound === '0' && <Notice tone="bad">{t.notBound}</Notice>}
      {data?.detail && <p className="wrap">{data.detail}</p>}
      {error && <Notice tone="bad">{problemOf(error).text}</Notice>}
    </Dialog>
  );
}
