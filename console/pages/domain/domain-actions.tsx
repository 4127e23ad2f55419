/** What is done to a domain as a whole: closing, opening, deleting. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { Menu } from '../../components/menu.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { useAtOnce } from '../../forms/use-at-once.ts';
import { PATHS } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainText } from '../../text/domain.ts';
import type { DomainData } from './domain.tsx';

type Asked = 'close' | 'delete' | undefined;

export function DomainActions({ domain }: { readonly domain: DomainData }) {
  const t = useText(domainText);
  const { access } = useSession();
  const [asked, setAsked] = useState<Asked>();
  const { run: setStatus } = useAtOnce('domain.setStatus');
  const { domain_id, domain_name, domain_status } = domain;
  const isClosed = Number(domain_status) === 0;
  const items = [
    ...(access.includes('write')
      ? [
          isClosed
            ? ({
                title: t.open,
                icon: 'play',
                onChoose: () =>
                  setStatus({ domain_id, domain_status: '2' }, { about: `domain ${domain_id}`, name: domain_name }),
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
  return (
    <ConfirmChange
      title={t.closeTitle(domain_name)}
      action={t.close}
      name="domain.setStatus"
      request={{ domain_id, domain_status: '0' }}
      onClose={onClose}
    >
      {t.closeHelp}
    </ConfirmChange>
  );
}

function DeleteDialog({ domain: { domain_id, domain_name }, onClose }: AskProps) {
  const t = useText(domainText);
  const [, navigate] = useLocation();
  return (
    <ConfirmChange
      title={t.deleteTitle(domain_name)}
      action={t.delete}
      name="domain.delete"
      request={{ domain_id }}
      typed={{ label: t.name, name: domain_name }}
      onDone={() => navigate(PATHS.domains)}
      onClose={onClose}
    >
      {t.deleteHelp}
    </ConfirmChange>
  );
}
