/** One certificate: its facts, the domains that use it, and its end. */
import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/detail.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { problemOf, useChange, useRead } from '../../queries.ts';
import { domainPath } from '../../routes.ts';
import { useServices, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { certificatesText } from '../../text/certificates.ts';
import { commonText } from '../../text/common.ts';
import { type Certificate, Ends, namesOf } from './certificates.tsx';

interface CertificateDialogProps {
  /** Absent: none is looked at. */
  readonly certificate: Certificate | undefined;
  readonly onClose: () => void;
}

export function CertificateDialog({ certificate, onClose }: CertificateDialogProps) {
  return certificate && <Shown key={certificate.ssl_key} {...{ certificate, onClose }} />;
}

function Shown({ certificate, onClose }: { readonly certificate: Certificate; readonly onClose: () => void }) {
  const t = useText(certificatesText);
  const common = useText(commonText);
  const { toasts } = useServices();
  const mayWrite = useSession().access.includes('write');
  const [isAsked, setAsked] = useState(false);
  const remove = useChange('certificate.delete');
  const { ssl_key, title, issuer, key_kind, validfrom_time, validto_time, subjectaltname, warnings, status } =
    certificate;
  const onDeleted = () => {
    toasts.show({ about: `certificate ${ssl_key}`, title: t.deleted(title) });
    onClose();
  };
  const askOrDelete = () => (isAsked ? remove.mutate({ ssl_key }, { onSuccess: onDeleted }) : setAsked(true));
  const facts = [
    { title: t.domains, value: <span className="mono wrap">{namesOf(subjectaltname).join(', ')}</span> },
    { title: t.issuer, value: issuer },
    { title: t.begins, value: <Time at={validfrom_time * 1000} /> },
    { title: t.ends, value: <Ends at={validto_time * 1000} isWhole /> },
    { title: t.key, value: key_kind.toUpperCase() },
    { title: t.id, value: <span className="mono wrap">{ssl_key}</span> },
    { title: t.usedBy, value: <UsedBy ssl_key={ssl_key} /> },
  ];
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      footer={
        <>
          {mayWrite && status !== 'InUse' && (
            <Button kind={isAsked ? 'danger' : 'normal'} icon="trash" isBusy={remove.isPending} onClick={askOrDelete}>
              {t.delete}
            </Button>
          )}
          <Button onClick={onClose}>{common.close}</Button>
        </>
      }
    >
      {warnings && (
        <Notice tone="warn">
          <em>{t.warnings}</em>
          {warnings.map(({ code, text }) => (
            <p key={code}>{text}</p>
          ))}
        </Notice>
      )}
      <Facts facts={facts} />
      {isAsked && <Notice tone="warn">{t.deleteHelp}</Notice>}
      {remove.error && <Notice tone="bad">{problemOf(remove.error).text}</Notice>}
    </Dialog>
  );
}

function UsedBy({ ssl_key }: { readonly ssl_key: string }) {
  const t = useText(certificatesText);
  const load = useRead('domain.listBrief', { ssl_key, page_size: 20, sort: 'name' });
  return (
    <Loaded
      load={load}
      lines={1}
      isEmpty={({ total }) => total === 0}
      empty={<span className="dim">{t.usedByNone}</span>}
    >
      {({ list, total }) => (
        <ul>
          {list.map(({ domain_id, domain_name }) => (
            <li key={domain_id}>
              <Link href={domainPath(domain_id, 'https')} className="mono">
                {domain_name}
              </Link>
            </li>
          ))}
          {total > list.length && <li className="dim">{t.usedByMore(total - list.length)}</li>}
        </ul>
      )}
    </Loaded>
  );
}
