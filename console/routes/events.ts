/** Addresses of the account's events: see `routes.ts`. */
import { digitsOf, oneOf, PATHS, withQuery } from '../routes.ts';
import { SEVERITIES } from './operators.ts';

/** What events are about; empty: everything. */
export const ABOUTS = ['', 'origins', 'certificates', 'limits'] as const;

export interface EventsQuery {
  readonly about: (typeof ABOUTS)[number];
  readonly severity: (typeof SEVERITIES)[number];
  readonly page: number;
}

export function eventsPath({ about, severity, page = 1 }: Partial<EventsQuery> = {}): string {
  return withQuery(PATHS.events, { about, severity, page: page === 1 ? '' : String(page) });
}

export function readEventsQuery(search: string): EventsQuery {
  const query = new URLSearchParams(search);
  return {
    about: oneOf(ABOUTS, query.get('about')),
    severity: oneOf(SEVERITIES, query.get('severity')),
    page: Number(digitsOf(query.get('page'))) || 1,
  };
}
