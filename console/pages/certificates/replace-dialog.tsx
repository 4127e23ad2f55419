/** Another certificate on all domains that use this one: first what would change, then each domain's result. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { problemOf, useAsk, useChange } from '../../queries.ts';
import { domainPath } from '../../routes/domains.ts';
import { useText } from '../../text/catalogue.ts';
import { certificatesText } from '../../text/certificates.ts';
import { commonText } from '../../text/common.ts';
import { CertificateSelect } from '../domain/certificate-select.tsx';

type Result = DataOf<'certificate.replace'>['list'][number];

interface ReplaceDialogProps {
  readonly ssl_key: string;
  readonly title: string;
  readonly onClose: () => void;
}

export function ReplaceDialog({ ssl_key, title, onClose }: ReplaceDialogProps) {
  const t = useText(certificatesText);
  const common = useText(commonText);
  const [new_ssl_key, setNew] = useState('');
  const trial = useAsk('certificate.replace');
  const { results, isDone, isPending, error, start } = useReplaceAll(ssl_key, new_ssl_key);
  const choose = (key: string) => {
    setNew(key);
    if (key === '') trial.reset();
    else trial.mutate({ ssl_key, new_ssl_key: key, dry_run: '1' });
  };
  const shown = results.length > 0 || isDone ? results : (trial.data?.list ?? []);
  const hasMore = !isDone && trial.data?.next !== undefined && trial.data.next !== '';
  const problem = error ?? trial.error;
  const columns = useColumns(isDone);
  const replace = !isDone && (
    <Button
      kind="primary"
      disabled={shown.every((result) => result.error !== null)}
      isBusy={isPending || trial.isPending}
      onClick={() => start()}
    >
      {t.replaceSubmit}
    </Button>
  );
  return (
    <Dialog
      title={t.replaceTitle(title)}
      isOpen
      isWide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{isDone ? common.close : common.cancel}</Button>
          {replace}
        </>
      }
    >
      {isDone ? (
        <Notice tone="info">{t.replaced(results.filter((result) => result.error === null).length)}</Notice>
      ) : (
        <Field label={t.replaceBy} help={t.replaceHelp}>
          {(ids) => <CertificateSelect ids={ids} value={new_ssl_key} except={ssl_key} onChange={choose} />}
        </Field>
      )}
      {problem && <Notice tone="bad">{problemOf(problem).text}</Notice>}
      {shown.length > 0 && (
        <Table label={t.domains} columns={columns} rows={shown} keyOf={({ domain_id }) => domain_id} />
      )}
      {hasMore && <p className="help">{t.replaceMore(shown.length)}</p>}
    </Dialog>
  );
}

/** The service changes 100 domains in a call, and says where to go on. */
function useReplaceAll(ssl_key: string, new_ssl_key: string) {
  const change = useChange('certificate.replace');
  const [results, setResults] = useState<readonly Result[]>([]);
  const [isDone, setDone] = useState(false);
  const start = (after?: string) =>
    change.mutate(
      { ssl_key, new_ssl_key, ...(after !== undefined && { after }) },
      {
        onSuccess: ({ list, next }) => {
          setResults((before) => [...before, ...list]);
          if (next === '') setDone(true);
          else start(next);
        },
      },
    );
  return { results, isDone, isPending: change.isPending, error: change.error, start };
}

function useColumns(isDone: boolean): readonly Column<Result>[] {
  const t = useText(certificatesText);
  return [
    {
      id: 'domain',
      title: t.domain,
      phone: 'first',
      show: ({ domain_id, domain_name }) => (
        <Link href={domainPath(domain_id, 'https')} className="mono wrap">
          {domain_name}
        </Link>
      ),
    },
    {
      id: 'result',
      title: t.result,
      phone: 'second',
      show: ({ error }) =>
        error === null ? isDone ? t.isReplaced : t.isReplaceable : <Badge tone="bad">{t.isKept}</Badge>,
    },
    {
      id: 'why',
      title: t.why,
      show: ({ error, warnings }) => (
        <span className="wrap">{error?.text ?? warnings.map(({ text }) => text).join(' ')}</span>
      ),
    },
  ];
}
