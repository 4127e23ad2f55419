/** Domains that wait for review: approved, or rejected with a reason that the customer is shown. */
import { useRef, useState } from 'react';
import { Link, useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { OPERATOR_OPERATIONS } from '#contract/operators/operator-operations.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Page } from '../../../components/page.tsx';
import { Pager } from '../../../components/pager.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useKey } from '../../../lib/use-key.ts';
import { problemOf, useChange, useRead } from '../../../queries.ts';
import { accountPath, readPageQuery, reviewPath } from '../../../routes/operators.ts';
import { useServices, useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { REJECT_WORDS, reviewText } from '../../../text/review.ts';

type Domain = DataOf<'operator.listDomains'>['list'][number];

const PAGE_SIZE = 50;
const EVERY_MS = 15_000;

export function Review() {
  const t = useText(reviewText);
  const { page } = readPageQuery(useSearch());
  const { features, access } = useSession();
  const { toasts } = useServices();
  const [rejected, setRejected] = useState<Domain>();
  const decide = useChange('operator.setDomainStatus');
  const load = useRead(
    'operator.listDomains',
    { pending: '1', page, page_size: PAGE_SIZE },
    { everyMs: EVERY_MS, keepsPrevious: true },
  );
  const approve = ({ account_id, domain_id, domain_name }: Domain) =>
    decide.mutate(
      { account_id, domain_id, action: 'approve' },
      { onSuccess: () => toasts.show({ about: `domain ${domain_id}`, title: t.approved(domain_name) }) },
    );
  const columns = useColumns(access.includes('write') ? { approve, reject: setRejected } : undefined);
  return (
    <Page
      title={t.title}
      note={
        <span className="dim" role="status">
          {load.kind === 'ready' && t.waiting(load.data.total)}
        </span>
      }
    >
      <p className="help">{features.review === '1' ? t.help : t.notAsked}</p>
      {decide.error && <Notice tone="bad">{problemOf(decide.error).text}</Notice>}
      <Card isFlush>
        <Loaded
          load={load}
          lines={6}
          isEmpty={({ list }) => list.length === 0}
          empty={<Empty icon="review" title={t.none} text={t.noneHelp} />}
        >
          {({ list, total }) => (
            <>
              <Table
                label={t.title}
                columns={columns}
                rows={list}
                keyOf={({ domain_id }) => domain_id}
                nameOf={({ domain_name }) => domain_name}
              />
              <Pager {...{ page, total }} pageSize={PAGE_SIZE} pathOf={reviewPath} />
            </>
          )}
        </Loaded>
      </Card>
      {rejected && <RejectDialog domain={rejected} onClose={() => setRejected(undefined)} />}
    </Page>
  );
}

interface Decisions {
  readonly approve: (domain: Domain) => void;
  readonly reject: (domain: Domain) => void;
}

function useColumns(decisions: Decisions | undefined): readonly Column<Domain>[] {
  const t = useText(reviewText);
  return [
    {
      id: 'domain',
      title: t.domain,
      phone: 'first',
      show: ({ domain_name }) => <span className="mono wrap">{domain_name}</span>,
    },
    {
      id: 'account',
      title: t.account,
      show: ({ account_id }) => <Link href={accountPath(account_id)}>{account_id}</Link>,
    },
    {
      id: 'origin',
      title: t.origin,
      show: ({ origin }) => <span className="mono wrap">{origin.join(', ')}</span>,
    },
    { id: 'filing', title: t.filing, phone: 'hidden', show: ({ icp_no }) => icp_no || <Dim text={t.noFiling} /> },
    { id: 'type', title: t.type, phone: 'hidden', show: ({ cdn_type }) => <Dim text={cdn_type} /> },
    { id: 'added', title: t.added, phone: 'hidden', show: ({ create_time }) => create_time },
    {
      id: 'decide',
      title: t.actions,
      show: (domain) => decisions && <Decide domain={domain} decisions={decisions} />,
    },
  ];
}

function Dim({ text }: { readonly text: string }) {
  return <span className="dim">{text}</span>;
}

/** Also by a key, while the focus is in the row. */
function Decide({ domain, decisions }: { readonly domain: Domain; readonly decisions: Decisions }) {
  const t = useText(reviewText);
  const { domain_name } = domain;
  const buttons = useRef<HTMLSpanElement>(null);
  const onKey = (decide: Decisions['approve']) => () => {
    if (buttons.current?.closest('tr')?.contains(document.activeElement)) decide(domain);
  };
  useKey({ key: 'a' }, onKey(decisions.approve));
  useKey({ key: 'r' }, onKey(decisions.reject));
  return (
    <span className="row" ref={buttons}>
      <Button icon="check" title={t.approveOf(domain_name)} onClick={() => decisions.approve(domain)}>
        {t.approve}
      </Button>
      <Button title={t.rejectOf(domain_name)} onClick={() => decisions.reject(domain)}>
        {t.reject}
      </Button>
    </span>
  );
}

function RejectDialog({ domain, onClose }: { readonly domain: Domain; readonly onClose: () => void }) {
  const t = useText(reviewText);
  const { toasts } = useServices();
  const { account_id, domain_id, domain_name } = domain;
  return (
    <FormDialog
      title={t.rejectTitle(domain_name)}
      action={t.rejectAction}
      name="operator.rejectDomain"
      contract={OPERATOR_OPERATIONS['operator.rejectDomain'].request}
      words={REJECT_WORDS}
      initial={{ account_id, domain_id, reason: '' }}
      onDone={() => {
        toasts.show({ about: `domain ${domain_id}`, title: t.rejected(domain_name) });
        onClose();
      }}
      onClose={onClose}
    />
  );
}
