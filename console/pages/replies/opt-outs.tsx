/** Numbers that get no advertising: found, added and removed. */
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { SearchInput } from '../../components/input.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { writeCsv } from '../../lib/csv.ts';
import { downloadText } from '../../lib/download.ts';
import { useTyped } from '../../lib/use-typed.ts';
import { usePages } from '../../queries.ts';
import { optOutsPath, readOptOutsQuery } from '../../routes/messaging.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { repliesText } from '../../text/replies.ts';
import { AddOptOuts } from './add-opt-outs.tsx';
import { RemoveOptOuts } from './remove-opt-outs.tsx';
import { RepliesTabs } from './replies-tabs.tsx';

type OptOut = DataOf<'sms.getOptOuts'>['list'][number];

const NONE: ReadonlySet<string> = new Set();

export function OptOuts() {
  const t = useText(repliesText);
  const { number } = readOptOutsQuery(useSearch());
  const mayWrite = useSession().access.includes('write');
  const pages = usePages('sms.getOptOuts', { ...(isPrefix(number) && { prefix: number }), page_size: 50 }, 'after');
  const rows = pages.load.kind === 'ready' ? pages.load.data : [];
  const [chosen, setChosen] = useState(NONE);
  const listed = rows.map(({ mobile }) => mobile).filter((mobile) => chosen.has(mobile));
  return (
    <Page
      title={t.title}
      actions={
        <>
          {rows.length > 0 && (
            <Button icon="download" onClick={() => downloadText('opt-outs.csv', 'text/csv', csvOf(rows))}>
              {t.csv}
            </Button>
          )}
          {mayWrite && <AddOptOuts />}
        </>
      }
    >
      <RepliesTabs open="optOuts" />
      <p className="help">{t.optOutsHelp}</p>
      <Filter number={number} />
      {listed.length > 0 && <RemoveOptOuts numbers={listed} onRemoved={() => setChosen(NONE)} />}
      <Card isFlush>
        <Loaded
          load={pages.load}
          lines={10}
          isEmpty={(list) => list.length === 0}
          empty={
            number === '' ? (
              <Empty icon="replies" title={t.noOptOuts} text={t.noOptOutsHelp} />
            ) : (
              <Empty icon="search" title={t.noOptOutMatch} />
            )
          }
        >
          {(list) => (
            <Table
              label={t.optOuts}
              columns={columnsOf(t)}
              rows={list}
              keyOf={({ mobile }) => mobile}
              {...(mayWrite && { chosen: { keys: chosen, onChange: setChosen } })}
            />
          )}
        </Loaded>
        {pages.hasMore && <MoreButton isBusy={pages.isBusy} onMore={pages.onMore} />}
      </Card>
    </Page>
  );
}

function isPrefix(text: string): boolean {
  return /^\+[1-9]\d{0,14}$/.test(text);
}

function Filter({ number }: { readonly number: string }) {
  const t = useText(repliesText);
  const [, navigate] = useLocation();
  const typed = useTyped(number, (text) => navigate(optOutsPath({ number: prefixOf(text) }), { replace: true }));
  return (
    <search className="row">
      <SearchInput label={t.prefix} inputMode="tel" {...typed} />
    </search>
  );
}

/** A mobile number of mainland China as the list has it. */
function prefixOf(text: string): string {
  const plain = text.replaceAll(/[\s()-]/g, '');
  return /^1[3-9]\d*$/.test(plain) ? `+86${plain}` : plain;
}

function columnsOf(t: { readonly number: string; readonly since: string }): readonly Column<OptOut>[] {
  return [
    { id: 'number', title: t.number, phone: 'first', show: ({ mobile }) => <span className="mono">{mobile}</span> },
    { id: 'since', title: t.since, phone: 'second', show: ({ created_at }) => <Time at={created_at} /> },
  ];
}

function csvOf(rows: readonly OptOut[]): string {
  return writeCsv(
    ['mobile', 'create_time'],
    rows.map(({ mobile, create_time }) => [mobile, create_time]),
  );
}
