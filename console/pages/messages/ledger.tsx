/** The ledger of an account, a page at a time, the newest first. */
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { formatAmount, type Money } from '../../lib/format-amount.ts';
import { messagePath } from '../../routes/messaging.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { ledgerText } from '../../text/ledger.ts';

type Entry = DataOf<'sms.listLedger'>['list'][number];

export const LEDGER_PAGE_SIZE = 20;

interface LedgerProps {
  readonly entries: readonly Entry[];
  readonly money: Money;
  /** Id of the entry before which these are; empty: these are the latest. */
  readonly before: string;
  readonly onBefore: (before: string) => void;
  /** The messages are those of the account in view. */
  readonly hasLinks?: boolean;
}

export function Ledger({ entries, money, before, onBefore, hasLinks = false }: LedgerProps) {
  const t = useText(ledgerText);
  const hasMore = entries.length === LEDGER_PAGE_SIZE;
  return (
    <>
      <Table label={t.title} columns={useColumns(money, hasLinks)} rows={entries} keyOf={({ entry_id }) => entry_id} />
      {(before !== '' || hasMore) && (
        <div className="row pad">
          {before !== '' && <Button onClick={() => onBefore('')}>{t.latest}</Button>}
          {hasMore && <Button onClick={() => onBefore(entries.at(-1)?.entry_id ?? '')}>{t.earlier}</Button>}
        </div>
      )}
    </>
  );
}

function useColumns(money: Money, hasLinks: boolean): readonly Column<Entry>[] {
  const t = useText(ledgerText);
  const locale = usePreference('locale');
  const kinds: Readonly<Record<string, string>> = t.kinds;
  return [
    { id: 'kind', title: t.kind, phone: 'first', show: ({ kind }) => kinds[kind] ?? kind },
    {
      id: 'amount',
      title: t.amount,
      isNumber: true,
      phone: 'second',
      show: ({ amount }) => formatAmount(amount, money, locale),
    },
    { id: 'about', title: t.about, show: (entry) => <About {...{ entry, hasLinks }} /> },
    { id: 'when', title: t.when, show: ({ create_time }) => create_time },
  ];
}

/** A recharge has a reference, all else a message. */
function About({ entry, hasLinks }: Pick<LedgerProps, 'hasLinks'> & { readonly entry: Entry }) {
  const { reference, sendid, mobile } = entry;
  const text = reference || [mobile, sendid].filter(Boolean).join(' · ');
  if (!hasLinks || sendid === '') return <span className="mono wrap">{text}</span>;
  return (
    <Link href={messagePath(sendid, mobile)} className="mono wrap">
      {text}
    </Link>
  );
}
