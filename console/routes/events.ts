/** Addresses of the account's events. */
import { PATHS } from '../routes.ts';
import { SEVERITIES } from './operators.ts';
import { oneOf, readPage, withQuery, writePage } from './query.ts';

/** What events are about; empty: everything. */
export const ABOUTS = ['', 'origins', 'certificates', 'limits'] as const;

export interface EventsQuery {
  readonly about: (typeof ABOUTS)[number];
  readonly severity: (typeof SEVERITIES)[number];
  readonly page: number;
}

export function eventsPath({ about, severity, page }: Partial<EventsQuery> = {}): string {
  return withQuery(PATHS.events, { about, severity, page: writePage(page) });
}

export function readEventsQuery(search: string): EventsQuery {
  const query = new URLSearchParams(search);
  return {
    about: oneOf(ABOUTS, query.get('about')),
    severity: oneOf(SEVERITIES, query.get('severity')),
    page: readPage(query),
  };
}
