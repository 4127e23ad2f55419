/** One stream before an operator: its publisher is looked at, cut, forbidden, or let in again. */
import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/detail.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { Select } from '../../components/select.tsx';
import { unixAfter } from '../../lib/unix-after.ts';
import { problemOf, useChange } from '../../queries.ts';
import { liveDomainPath } from '../../routes/streams.ts';
import { useServices, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { streamsText } from '../../text/streams.ts';
import type { OperatorRow } from './all-streams.tsx';
import { codecsOf, nameOf, StreamState } from './stream-columns.tsx';

const FORBID_SECONDS = ['', '3600', '86400'] as const;

interface StreamDialogProps {
  /** Absent: none is looked at. */
  readonly row: OperatorRow | undefined;
  readonly onClose: () => void;
}

export function StreamDialog({ row, onClose }: StreamDialogProps) {
  return row && <Shown key={nameOf(row)} row={row} onClose={onClose} />;
}

function Shown({ row, onClose }: { readonly row: OperatorRow; readonly onClose: () => void }) {
  const t = useText(streamsText);
  const mayWrite = useSession().access.includes('write');
  const [seconds, setSeconds] = useState<(typeof FORBID_SECONDS)[number]>('');
  const { isBusy, error, forbid, kick, resume } = useActs(row, onClose);
  const { status } = row;
  const isForbidden = status === 'PAUSED';
  return (
    <Dialog
      title={nameOf(row)}
      isOpen
      onClose={onClose}
      footer={
        mayWrite && (
          <>
            {status === 'ONGOING' && (
              <Button isBusy={isBusy} onClick={kick}>
                {t.kick}
              </Button>
            )}
            {isForbidden ? (
              <Button kind="primary" isBusy={isBusy} onClick={resume}>
                {t.resume}
              </Button>
            ) : (
              <Button kind="danger" isBusy={isBusy} onClick={() => forbid(seconds)}>
                {t.forbid}
              </Button>
            )}
          </>
        )
      }
    >
      <StreamFacts row={row} />
      {mayWrite && !isForbidden && (
        <>
          <Field label={t.forbidFor} help={t.forbidHelp}>
            {(ids) => (
              <Select
                ids={ids}
                choices={FORBID_SECONDS.map((value) => ({ value, label: t.forbidTimes[value] }))}
                value={seconds}
                onChange={setSeconds}
              />
            )}
          </Field>
          {status === 'ONGOING' && <p className="help">{t.kickHelp}</p>}
        </>
      )}
      {error && <Notice tone="bad">{problemOf(error).text}</Notice>}
    </Dialog>
  );
}

function StreamFacts({ row }: { readonly row: OperatorRow }) {
  const t = useText(streamsText);
  const { account_id, domain, edge, details } = row;
  return (
    <>
      <Facts
        facts={[
          { title: t.status, value: <StreamState row={row} /> },
          { title: t.domain, value: <span className="mono wrap">{domain}</span> },
          { title: t.account, value: <span className="mono">{account_id}</span> },
          { title: t.edge, value: edge === '' ? undefined : <span className="mono">{edge}</span> },
          { title: t.address, value: details ? <span className="mono">{details.address}</span> : undefined },
          { title: t.encoder, value: details?.encoder || undefined },
          { title: t.codecs, value: details ? codecsOf(details) : undefined },
        ]}
      />
      <p>
        <Link href={liveDomainPath(domain)}>{t.ofDomain}</Link>
      </p>
    </>
  );
}

function useActs(row: OperatorRow, onClose: () => void) {
  const t = useText(streamsText);
  const { toasts } = useServices();
  const forbid = useChange('liveOperator.forbid');
  const kick = useChange('liveOperator.kick');
  const resume = useChange('liveOperator.resume');
  const { account_id, domain_id, app_name, stream_name } = row;
  const stream = { account_id, domain_id, app_name, stream_name };
  const done = (title: string) => ({
    onSuccess: () => {
      toasts.show({ about: `stream ${domain_id}/${nameOf(row)}`, title });
      onClose();
    },
  });
  const name = nameOf(row);
  return {
    isBusy: forbid.isPending || kick.isPending || resume.isPending,
    error: forbid.error ?? kick.error ?? resume.error,
    forbid: (seconds: string) => {
      const until = seconds === '' ? {} : { resume_at: unixAfter(Number(seconds), Date.now()) };
      forbid.mutate({ ...stream, ...until }, done(t.forbidden(name)));
    },
    kick: () => kick.mutate(stream, done(t.kicked(name))),
    resume: () => resume.mutate(stream, done(t.resumed(name))),
  };
}
