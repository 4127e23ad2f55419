/** One of the account's certificates. */
import type { ControlIds } from '../../components/field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Select } from '../../components/select.tsx';
import { useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { domainText } from '../../text/domain.ts';

interface CertificateSelectProps {
  readonly ids: ControlIds;
  /** Identifier; empty: none. */
  readonly value: string;
  /** Identifier of one that is left out. */
  readonly except?: string;
  readonly onChange: (value: string) => void;
}

export function CertificateSelect({ ids, value, except, onChange }: CertificateSelectProps) {
  const t = useText(domainText);
  const load = useRead('certificate.list', { page_size: 100 });
  return (
    <Loaded
      load={load}
      lines={1}
      isEmpty={(list) => list.length === 0}
      empty={<p className="help">{t.noCertificates}</p>}
    >
      {(list) => {
        const others = list.filter(({ ssl_key }) => ssl_key !== except);
        const choices = others.map(({ ssl_key, title, subjectaltname, status }) => ({
          value: ssl_key,
          label: `${title} (${subjectaltname.split(',').join(', ')})${status === 'Expired' ? ` · ${t.expired}` : ''}`,
        }));
        return <Select {...{ ids, value, onChange }} choices={[{ value: '', label: t.noCertificate }, ...choices]} />;
      }}
    </Loaded>
  );
}
