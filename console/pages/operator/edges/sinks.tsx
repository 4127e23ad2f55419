/** Receivers of log lines in real time, and the edges that cannot send to one. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { SINK_OPERATIONS } from '#contract/operators/sink-operations.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Menu } from '../../../components/menu.tsx';
import { Notice } from '../../../components/notice.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { problemOf, useChange, useRead } from '../../../queries.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { SINK_WORDS, sinksText } from '../../../text/sinks.ts';

type Sink = DataOf<'sinkOperator.list'>['list'][number];
interface Asked {
  readonly what: 'add' | 'change' | 'remove';
  /** Absent: a new one. */
  readonly sink?: Sink;
}

const EVERY_MS = 10_000;

export function Sinks() {
  const t = useText(sinksText);
  const [asked, setAsked] = useState<Asked>();
  const load = useRead('sinkOperator.list', {}, { everyMs: EVERY_MS });
  const test = useChange('sinkOperator.test');
  const mayWrite = useSession().access.includes('write');
  const columns = useColumns({ onAsk: setAsked, onTest: ({ name }) => test.mutate({ name }) });
  return (
    <Card
      title={t.title}
      isFlush
      actions={
        mayWrite && (
          <Button icon="plus" onClick={() => setAsked({ what: 'add' })}>
            {t.add}
          </Button>
        )
      }
    >
      {test.error && (
        <div className="pad">
          <Notice tone="bad">{problemOf(test.error).text}</Notice>
        </div>
      )}
      {test.isSuccess && (
        <div className="pad">
          <TestResult name={String(test.variables.name)} result={test.data} />
        </div>
      )}
      <Loaded
        load={load}
        isEmpty={({ list }) => list.length === 0}
        empty={<Empty icon="logs" title={t.none} text={t.help} />}
      >
        {({ list }) => <Table label={t.title} columns={columns} rows={list} keyOf={({ name }) => name} />}
      </Loaded>
      {asked && <AskedDialog {...asked} onClose={() => setAsked(undefined)} />}
    </Card>
  );
}

interface TestResultProps {
  readonly name: string;
  readonly result: DataOf<'sinkOperator.test'>;
}

function TestResult({ name, result: { status, reason, took_ms, answer } }: TestResultProps) {
  const t = useText(sinksText);
  if (reason !== '') return <Notice tone="bad">{t.notAnswered(name, reason)}</Notice>;
  return (
    <Notice tone={status >= 200 && status < 300 ? 'info' : 'bad'}>
      {t.answered(name, status, took_ms)} <span className="mono wrap">{answer}</span>
    </Notice>
  );
}

function AskedDialog({ what, sink, onClose }: Asked & { readonly onClose: () => void }) {
  const t = useText(sinksText);
  if (what === 'remove') {
    const { name = '' } = sink ?? {};
    const words = { title: t.removeTitle(name), action: t.remove };
    return (
      <ConfirmChange {...words} name="sinkOperator.remove" request={{ name }} onClose={onClose}>
        {t.removeHelp}
      </ConfirmChange>
    );
  }
  const contract = SINK_OPERATIONS['sinkOperator.set'].request;
  const common = { name: 'sinkOperator.set', contract, onDone: onClose, onClose } as const;
  if (sink === undefined)
    return (
      <FormDialog {...common} title={t.add} action={t.add} words={SINK_WORDS.add} initial={{ name: '', url: '' }} />
    );
  // What an answer has besides is no field of the request.
  const { headers: _, troubles: __, domain_ids, ...rest } = sink;
  const initial = { ...rest, ...(domain_ids.length > 0 && { domain_ids }) };
  return (
    <FormDialog
      {...common}
      title={t.changeTitle(sink.name)}
      help={t.changeHelp}
      action={t.change}
      words={SINK_WORDS.change}
      initial={initial}
    />
  );
}

interface Actions {
  readonly onAsk: (asked: Asked) => void;
  readonly onTest: (sink: Sink) => void;
}

function useColumns({ onAsk, onTest }: Actions): readonly Column<Sink>[] {
  const t = useText(sinksText);
  const mayWrite = useSession().access.includes('write');
  return [
    { id: 'name', title: t.name, phone: 'first', show: ({ name }) => name },
    {
      id: 'url',
      title: t.url,
      phone: 'hidden',
      show: ({ url }) => <span className="mono wrap">{url || t.locked}</span>,
    },
    {
      id: 'lines',
      title: t.lines,
      phone: 'hidden',
      show: ({ sample_percent, domain_ids }) => t.share(sample_percent, domain_ids.length),
    },
    { id: 'state', title: t.state, phone: 'second', show: (sink) => <State sink={sink} /> },
    {
      id: 'actions',
      title: t.actions,
      phone: 'second',
      show: (sink) => {
        const items = [
          { title: t.test, onChoose: () => onTest(sink) },
          { title: t.change, onChoose: () => onAsk({ what: 'change', sink }) },
          { title: t.remove, icon: 'trash', onChoose: () => onAsk({ what: 'remove', sink }) },
        ] as const;
        return mayWrite && <Menu label={`${t.actions}: ${sink.name}`} icon="more" groups={[{ items }]} />;
      },
    },
  ];
}

function State({ sink: { troubles } }: { readonly sink: Sink }) {
  const t = useText(sinksText);
  const worst = troubles.find(({ state }) => state === 'dropping') ?? troubles[0];
  if (worst === undefined) return <span className="dim">{t.fine}</span>;
  return (
    <>
      <Badge tone={worst.state === 'dropping' ? 'bad' : 'warn'}>{t.states[worst.state]}</Badge>{' '}
      <span className="dim">{t.trouble(worst.edge_id, worst.reason)}</span>
    </>
  );
}
