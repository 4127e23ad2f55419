/** What the filter of messages asks the service for, and what is shown as a file. Pure. */
import type { CallOf, DataOf } from '#contract/operations.ts';
import { writeCsv } from '../../lib/csv.ts';
import type { MessagesQuery } from '../../routes/messaging.ts';

export type FoundMessage = DataOf<'sms.find'>['list'][number];

const PAGE_SIZE = 50;
const DAY_SECONDS = 86_400;

const DAYS = { all: undefined, '1d': 1, '7d': 7, '30d': 30 } as const;

type States = CallOf<'sms.find'>['status'];

/** States of each choice of the filter. */
const STATES: Readonly<Record<MessagesQuery['status'], States>> = {
  '': undefined,
  waiting: ['queued', 'submitting'],
  sent: ['submitted'],
  delivered: ['delivered', 'simulated'],
  trouble: ['failed', 'expired', 'rejected', 'unknown', 'uncertain'],
};

/** Times are rounded to minutes, so that the same request is made for a while. */
export function requestOf({ number, status, app, period }: MessagesQuery, now: number): CallOf<'sms.find'> {
  const days = DAYS[period];
  const states = STATES[status];
  return {
    ...(isWholeNumber(number) && { mobile: plainNumber(number) }),
    ...(states !== undefined && { status: states }),
    ...(app !== '' && { app_key: app }),
    ...(days !== undefined && { from: Math.floor(now / 60_000) * 60 - days * DAY_SECONDS }),
    page_size: PAGE_SIZE,
  };
}

/** Whether the number is typed to its end, so that it can be asked for. */
export function isWholeNumber(text: string): boolean {
  return /^(\+\d{7,15}|00\d{7,15}|(86)?1[3-9]\d{9})$/.test(plainNumber(text));
}

/** Removes blanks, hyphens and brackets, which the service refuses. */
export function plainNumber(text: string): string {
  return text.replaceAll(/[\s()-]/g, '');
}

export function csvOf(rows: readonly FoundMessage[]): string {
  const names = ['sendid', 'app_key', 'kind', 'mobile', 'status', 'parts', 'price'] as const;
  return writeCsv(
    ['created_at', ...names],
    rows.map((row) => [new Date(row.created_at).toISOString(), ...names.map((name) => row[name])]),
  );
}
