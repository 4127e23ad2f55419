/** An event in the database of a test's service. */
import { addEvent } from '#db/tables/events/events.ts';
import type { NewServiceEvent } from '#model/event.ts';
import type { TestApi } from './api.ts';

/** Adds the event that an origin is down, the operator's; `event` overrides its members. */
export function addSampleEvent({ db, now }: TestApi, event: Partial<NewServiceEvent>): Promise<void> {
  const target = { kind: 'domain', id: '3', name: 'www.example.com' } as const;
  const data = { origin: 'o.example:80', state: 'down', edges: 1, edge: 'fra1' };
  return db.transaction((trx) =>
    addEvent(trx, { at: now, kind: 'origin.down', target, actor: 'control', data, ...event }),
  );
}
