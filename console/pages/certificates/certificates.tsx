/** The account's certificates: what each is for, when it ends, and what uses it. */
import { Link, useLocation, useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { FewNames } from '../../components/few-names.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useRead } from '../../queries.ts';
import { certificatesPath, readCertificatesQuery } from '../../routes/delivery.ts';
import { ADD_CERTIFICATE_PATH } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { certificatesText } from '../../text/certificates.ts';
import { certificateDays } from '../overview/attention-of.ts';
import { CertificateDialog } from './certificate-dialog.tsx';

type Certificate = DataOf<'certificate.list'>[number];

const PAGE_SIZE = 50;

export function Certificates() {
  const t = useText(certificatesText);
  const [, navigate] = useLocation();
  const { page, ssl_key } = readCertificatesQuery(useSearch());
  const load = useRead('certificate.list', { page, page_size: PAGE_SIZE }, { keepsPrevious: true });
  const columns = useColumns(page);
  const add = useSession().access.includes('write') && (
    <LinkButton kind="primary" icon="plus" to={ADD_CERTIFICATE_PATH}>
      {t.add}
    </LinkButton>
  );
  const close = () => navigate(certificatesPath({ page }));
  return (
    <Page title={t.title} actions={add}>
      <Card isFlush>
        <Loaded
          load={load}
          lines={8}
          isEmpty={(list) => list.length === 0 && page === 1}
          empty={<Empty icon="certificates" title={t.emptyTitle} text={t.emptyText} />}
        >
          {(list) => (
            <>
              <Table
                label={t.title}
                columns={columns}
                rows={list}
                keyOf={(certificate) => certificate.ssl_key}
                onOpen={(certificate) => navigate(certificatesPath({ page, ssl_key: certificate.ssl_key }))}
              />
              <Pager page={page} hasMore={list.length === PAGE_SIZE} />
            </>
          )}
        </Loaded>
      </Card>
      {ssl_key !== '' && <CertificateDialog key={ssl_key} ssl_key={ssl_key} onClose={close} />}
    </Page>
  );
}

/** The list has no end that it tells of: a full page may have one behind it. */
function Pager({ page, hasMore }: { readonly page: number; readonly hasMore: boolean }) {
  const t = useText(certificatesText);
  if (page === 1 && !hasMore) return null;
  return (
    <nav className="row pad" aria-label={t.page(page)}>
      {page > 1 && (
        <LinkButton icon="left" to={certificatesPath({ page: page - 1 })}>
          {t.previous}
        </LinkButton>
      )}
      <span className="dim">{t.page(page)}</span>
      {hasMore && <LinkButton to={certificatesPath({ page: page + 1 })}>{t.next}</LinkButton>}
    </nav>
  );
}

function useColumns(page: number): readonly Column<Certificate>[] {
  const t = useText(certificatesText);
  return [
    {
      id: 'name',
      title: t.name,
      phone: 'first',
      show: ({ ssl_key, title }) => <Link href={certificatesPath({ page, ssl_key })}>{title}</Link>,
    },
    { id: 'domains', title: t.domains, show: ({ subjectaltname }) => <FewNames names={namesOf(subjectaltname)} /> },
    { id: 'issuer', title: t.issuer, phone: 'hidden', show: ({ issuer }) => issuer },
    { id: 'use', title: t.use, phone: 'hidden', show: ({ status }) => <span className="dim">{t.uses[status]}</span> },
    { id: 'ends', title: t.ends, phone: 'second', show: ({ validto_time }) => <Ends at={validto_time * 1000} /> },
  ];
}

/** `subjectaltname` of the interface. */
export function namesOf(text: string): readonly string[] {
  return text.split(',').filter((name) => name !== '');
}

/** What ends soon is marked; `isWhole`: with its time all the same. */
export function Ends({ at, isWhole = false }: { readonly at: number; readonly isWhole?: boolean }) {
  const t = useText(certificatesText);
  const left = certificateDays(at, Date.now());
  const isSoon = left !== undefined && left.tone !== 'ok';
  return (
    <>
      {isSoon && <Badge tone={left.tone}>{t.days(left.days)}</Badge>} {(isWhole || !isSoon) && <Time at={at} />}
    </>
  );
}
