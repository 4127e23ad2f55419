/** One certificate: its facts and chain, the domains that use it, and its end. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/detail.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { problemOf, useChange, useRead } from '../../queries.ts';
import { domainPath } from '../../routes/domains.ts';
import { useServices, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { certificatesText } from '../../text/certificates.ts';
import { commonText } from '../../text/common.ts';
import { Ends, namesOf } from './certificates.tsx';
import { ReplaceDialog } from './replace-dialog.tsx';

type Certificate = DataOf<'certificate.get'>;

interface CertificateDialogProps {
  readonly ssl_key: string;
  readonly onClose: () => void;
}

export function CertificateDialog({ ssl_key, onClose }: CertificateDialogProps) {
  const t = useText(certificatesText);
  const common = useText(commonText);
  const mayWrite = useSession().access.includes('write');
  const load = useRead('certificate.get', { ssl_key });
  const [isReplacing, setReplacing] = useState(false);
  const certificate = load.kind === 'ready' ? load.data : undefined;
  const deletion = useDeletion(certificate, onClose);
  if (isReplacing && certificate) return <ReplaceDialog {...{ ssl_key, onClose }} title={certificate.title} />;
  const actions = certificate && mayWrite && (
    <>
      {certificate.used_by_total > 0 && <Button onClick={() => setReplacing(true)}>{t.replace}</Button>}
      {certificate.status !== 'InUse' && (
        <Button
          kind={deletion.isAsked ? 'danger' : 'normal'}
          icon="trash"
          isBusy={deletion.isPending}
          onClick={deletion.askOrDelete}
        >
          {t.delete}
        </Button>
      )}
    </>
  );
  return (
    <Dialog
      title={certificate?.title ?? t.title}
      isOpen
      onClose={onClose}
      footer={
        <>
          {actions}
          <Button onClick={onClose}>{common.close}</Button>
        </>
      }
    >
      <Loaded load={load} lines={7}>
        {(shown) => <Shown certificate={shown} />}
      </Loaded>
      {deletion.isAsked && <Notice tone="warn">{t.deleteHelp}</Notice>}
      {deletion.error && <Notice tone="bad">{problemOf(deletion.error).text}</Notice>}
    </Dialog>
  );
}

/** The first press asks, the second deletes. */
function useDeletion(certificate: Certificate | undefined, onClose: () => void) {
  const t = useText(certificatesText);
  const { toasts } = useServices();
  const [isAsked, setAsked] = useState(false);
  const remove = useChange('certificate.delete');
  const askOrDelete = () => {
    if (!isAsked || certificate === undefined) return setAsked(true);
    const { ssl_key, title } = certificate;
    const onSuccess = () => {
      toasts.show({ about: `certificate ${ssl_key}`, title: t.deleted(title) });
      onClose();
    };
    remove.mutate({ ssl_key }, { onSuccess });
  };
  return { isAsked, isPending: remove.isPending, error: remove.error, askOrDelete };
}

function Shown({ certificate }: { readonly certificate: Certificate }) {
  const t = useText(certificatesText);
  const { ssl_key, issuer, key_kind, validfrom_time, validto_time, subjectaltname, warnings, automatic, chain } =
    certificate;
  const facts = [
    { title: t.domains, value: <span className="mono wrap">{namesOf(subjectaltname).join(', ')}</span> },
    { title: t.issuer, value: issuer },
    { title: t.begins, value: <Time at={validfrom_time * 1000} /> },
    { title: t.ends, value: <Ends at={validto_time * 1000} isWhole /> },
    { title: t.renewal, value: automatic === '1' ? t.automatic : t.byHand },
    { title: t.key, value: key_kind.toUpperCase() },
    { title: t.chain, value: chain.length > 1 ? <Chain chain={chain.slice(1)} /> : undefined },
    { title: t.id, value: <span className="mono wrap">{ssl_key}</span> },
    { title: t.usedBy, value: <UsedBy certificate={certificate} /> },
  ];
  return (
    <>
      {warnings && (
        <Notice tone="warn">
          <em>{t.warnings}</em>
          {warnings.map(({ code, text }) => (
            <p key={code}>{text}</p>
          ))}
        </Notice>
      )}
      <Facts facts={facts} />
    </>
  );
}

function Chain({ chain }: Pick<Certificate, 'chain'>) {
  return (
    <ul>
      {chain.map(({ subject, fingerprint }) => (
        <li key={fingerprint} className="wrap">
          {subject}
        </li>
      ))}
    </ul>
  );
}

function UsedBy({ certificate: { used_by, used_by_total } }: { readonly certificate: Certificate }) {
  const t = useText(certificatesText);
  if (used_by_total === 0) return <span className="dim">{t.usedByNone}</span>;
  return (
    <ul>
      {used_by.map(({ domain_id, domain_name }) => (
        <li key={domain_id}>
          <Link href={domainPath(domain_id, 'https')} className="mono">
            {domain_name}
          </Link>
        </li>
      ))}
      {used_by_total > used_by.length && <li className="dim">{t.usedByMore(used_by_total - used_by.length)}</li>}
    </ul>
  );
}
