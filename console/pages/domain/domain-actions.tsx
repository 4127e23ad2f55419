/** What is done to a domain as a whole: closing, opening, deleting. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Menu } from '../../components/menu.tsx';
import { Notice } from '../../components/notice.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { PATHS } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { domainText } from '../../text/domain.ts';
import type { DomainData } from './domain.tsx';

type Asked = 'close' | 'delete' | undefined;

export function DomainActions({ domain }: { readonly domain: DomainData }) {
  const t = useText(domainText);
  const { access } = useSession();
  const [asked, setAsked] = useState<Asked>();
  const setStatus = useChange('domain.setStatus');
  const { domain_id, domain_status } = domain;
  const isClosed = Number(domain_status) === 0;
  const items = [
    ...(access.includes('write')
      ? [
          isClosed
            ? ({
                title: t.open,
                icon: 'play',
                onChoose: () => setStatus.mutate({ domain_id, domain_status: '2' }),
              } as const)
            : ({ title: t.close, icon: 'pause', onChoose: () => setAsked('close') } as const),
        ]
      : []),
    ...(access.includes('manage')
      ? [{ title: t.delete, icon: 'trash', onChoose: () => setAsked('delete') } as const]
      : []),
  ];
  if (items.length === 0) return null;
  return (
    <>
      <Menu label={t.actions} icon="more" groups={[{ items }]} />
      {asked === 'close' && <CloseDialog domain={domain} onClose={() => setAsked(undefined)} />}
      {asked === 'delete' && <DeleteDialog domain={domain} onClose={() => setAsked(undefined)} />}
    </>
  );
}

interface AskProps {
  readonly domain: DomainData;
  readonly onClose: () => void;
}

function CloseDialog({ domain: { domain_id, domain_name }, onClose }: AskProps) {
  const t = useText(domainText);
  const common = useText(commonText);
  const setStatus = useChange('domain.setStatus');
  return (
    <Dialog
      title={t.closeTitle(domain_name)}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button
            kind="danger"
            isBusy={setStatus.isPending}
            onClick={() => setStatus.mutate({ domain_id, domain_status: '0' }, { onSuccess: onClose })}
          >
            {t.close}
          </Button>
        </>
      }
    >
      <p>{t.closeHelp}</p>
      {setStatus.error && <Notice tone="bad">{problemOf(setStatus.error).text}</Notice>}
    </Dialog>
  );
}

function DeleteDialog({ domain: { domain_id, domain_name }, onClose }: AskProps) {
  const t = useText(domainText);
  const common = useText(commonText);
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const remove = useChange('domain.delete');
  return (
    <Dialog
      title={t.deleteTitle(domain_name)}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button
            kind="danger"
            disabled={typed.trim() !== domain_name}
            isBusy={remove.isPending}
            onClick={() => remove.mutate({ domain_id }, { onSuccess: () => navigate(PATHS.domains) })}
          >
            {t.delete}
          </Button>
        </>
      }
    >
      <p>{t.deleteHelp}</p>
      <Field label={t.name}>
        {(ids) => <TextInput ids={ids} isMono value={typed} onChange={(event) => setTyped(event.target.value)} />}
      </Field>
      {remove.error && <Notice tone="bad">{problemOf(remove.error).text}</Notice>}
    </Dialog>
  );
}
