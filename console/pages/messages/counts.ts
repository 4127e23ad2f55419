/** Counts of messages by day and group of states, as a chart and a table show them. Pure. */
import type { DataOf } from '#contract/operations.ts';
import type { ChartColor } from '../../components/chart-data.ts';
import { formatDay } from '../../lib/format.ts';
import { readLocal } from '../../lib/zoned-time.ts';

type Sum = DataOf<'sms.statistics'>['list'][number];

export const COUNT_GROUPS = ['trouble', 'simulated', 'underWay', 'delivered'] as const;
export type CountGroup = (typeof COUNT_GROUPS)[number];

export const GROUP_COLORS: Readonly<Record<CountGroup, ChartColor>> = {
  trouble: 'bad',
  simulated: 'warn',
  underWay: 'chart-4',
  delivered: 'accent',
};

const GROUP_OF: Readonly<Record<Exclude<Sum['status'], ''>, CountGroup>> = {
  queued: 'underWay',
  submitting: 'underWay',
  submitted: 'underWay',
  simulated: 'simulated',
  delivered: 'delivered',
  uncertain: 'trouble',
  failed: 'trouble',
  expired: 'trouble',
  unknown: 'trouble',
  rejected: 'trouble',
};

export interface DayCount {
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** Beginning of the day, Unix seconds. */
  readonly time: number;
  readonly messages: Readonly<Record<CountGroup, number>>;
  readonly parts: number;
  readonly price: number;
}

/** The last `days` days in the zone, today included, and the beginning of the first in Unix seconds. */
export function daysUntil(now: number, days: number, zone: string): { readonly days: readonly string[]; from: number } {
  const today = startOf(formatDay(now, { locale: 'en', zone }), zone) * 1000;
  // Noon is on the same day whatever the clocks do.
  const names = Array.from({ length: days }, (_, n) =>
    formatDay(today + NOON_MS - (days - 1 - n) * DAY_MS, { locale: 'en', zone }),
  );
  return { days: names, from: startOf(names[0] ?? '', zone) };
}

const DAY_MS = 86_400_000;
const NOON_MS = DAY_MS / 2;

function startOf(day: string, zone: string): number {
  return (readLocal(`${day}T00:00`, zone) ?? 0) / 1000;
}

/** A row for each day, those without messages too. */
export function countByDay(list: readonly Sum[], days: readonly string[], zone: string): readonly DayCount[] {
  const ofDay = Map.groupBy(list, ({ day }) => day);
  return days.map((day) => {
    const sums = ofDay.get(day) ?? [];
    const messages = { trouble: 0, simulated: 0, underWay: 0, delivered: 0 };
    for (const { status, messages: count } of sums) if (status !== '') messages[GROUP_OF[status]] += count;
    return {
      day,
      time: startOf(day, zone),
      messages,
      parts: sums.reduce((total, { parts }) => total + parts, 0),
      price: sums.reduce((total, { price }) => total + price, 0),
    };
  });
}
