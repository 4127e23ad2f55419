/** What a list says of events, of an account and of the service alike. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import type { Tone } from '../../components/tone.ts';
import { useText } from '../../text/catalogue.ts';
import { eventsText } from '../../text/events.ts';

export type EventRow = DataOf<'event.list'>['list'][number];

const TONES: Readonly<Record<EventRow['severity'], Tone>> = { info: 'idle', warning: 'warn', critical: 'bad' };

/** `about`: the column that says whose an event is, or what it is about. */
export function useEventColumns(about: Column<EventRow>): readonly Column<EventRow>[] {
  const t = useText(eventsText);
  return [
    { id: 'event', title: t.event, phone: 'first', show: ({ text }) => <span className="wrap">{text}</span> },
    {
      id: 'severity',
      title: t.severity,
      phone: 'second',
      show: ({ severity }) => <Badge tone={TONES[severity]}>{t.severities[severity]}</Badge>,
    },
    about,
    { id: 'when', title: t.when, show: ({ time }) => <Time at={time * 1000} isRelative /> },
  ];
}
