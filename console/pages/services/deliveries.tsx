/** The last posts to a webhook with their answers, and a button that posts a test. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import type { Tone } from '../../components/tone.ts';
import { formatNumber } from '../../lib/format.ts';
import { problemOf, useChange, useRead } from '../../queries.ts';
import { usePreference, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { servicesText } from '../../text/services.ts';

type Attempt = DataOf<'sms.listDeliveries'>['list'][number];

/** Attempts are written once a second, and no hint is sent of them. */
const EVERY_MS = 3_000;

const TONES: Readonly<Record<Attempt['outcome'], Tone>> = { delivered: 'ok', retry: 'warn', dropped: 'bad' };

interface DeliveriesProps {
  readonly appKey: string;
  readonly canTest: boolean;
}

export function Deliveries({ appKey, canTest }: DeliveriesProps) {
  const t = useText(servicesText);
  const load = useRead('sms.listDeliveries', { app_key: appKey }, { everyMs: EVERY_MS });
  const test = useChange('sms.testWebhook');
  const mayWrite = useSession().access.includes('write');
  const waiting = load.kind === 'ready' ? load.data.waiting : 0;
  const columns = useColumns();
  return (
    <Card
      title={t.deliveries}
      note={waiting > 0 ? t.waiting(waiting) : undefined}
      isFlush
      actions={
        mayWrite && (
          <Button disabled={!canTest} isBusy={test.isPending} onClick={() => test.mutate({ app_key: appKey })}>
            {t.test}
          </Button>
        )
      }
    >
      {test.error && (
        <div className="pad">
          <Notice tone="bad">{problemOf(test.error).text}</Notice>
        </div>
      )}
      {test.data && (
        <div className="pad">
          <TestResult result={test.data} />
        </div>
      )}
      <Loaded
        load={load}
        isEmpty={({ list }) => list.length === 0}
        empty={<Empty icon="services" title={t.noDeliveries} text={t.noDeliveriesHelp} />}
      >
        {({ list }) => (
          <Table
            label={t.deliveries}
            columns={columns}
            rows={list}
            keyOf={({ delivery_id, at, tries }) => `${delivery_id} ${at} ${tries}`}
          />
        )}
      </Loaded>
    </Card>
  );
}

function TestResult({ result: { status, reason, took_ms, answer } }: { readonly result: DataOf<'sms.testWebhook'> }) {
  const t = useText(servicesText);
  if (reason !== '') return <Notice tone="bad">{t.testFailed(reason)}</Notice>;
  return (
    <Notice tone={status >= 200 && status < 300 ? 'info' : 'bad'}>
      {t.tested(status, took_ms)} <span className="mono wrap">{answer}</span>
    </Notice>
  );
}

function useColumns(): readonly Column<Attempt>[] {
  const t = useText(servicesText);
  const locale = usePreference('locale');
  return [
    { id: 'event', title: t.event, phone: 'first', show: ({ event }) => t.events[event] },
    {
      id: 'outcome',
      title: t.outcome,
      phone: 'second',
      show: ({ outcome }) => <Badge tone={TONES[outcome]}>{t.outcomes[outcome]}</Badge>,
    },
    {
      id: 'answer',
      title: t.answer,
      show: ({ status, reason, answer }) => (
        <>
          <span className="mono">{reason || status}</span> <span className="dim wrap">{answer}</span>
        </>
      ),
    },
    { id: 'tries', title: t.tries, isNumber: true, phone: 'hidden', show: ({ tries }) => tries },
    {
      id: 'took',
      title: t.took,
      isNumber: true,
      phone: 'hidden',
      show: ({ took_ms }) => `${formatNumber(took_ms, locale)} ms`,
    },
    { id: 'at', title: t.at, show: ({ at }) => <Time at={at} isRelative /> },
  ];
}
