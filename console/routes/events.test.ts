import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsPath, readEventsQuery } from './events.ts';

const searchOf = (path: string) => new URL(path, 'http://localhost').search;

test('a filter of events survives its address', () => {
  const query = { about: 'limits', severity: 'warning', page: 3 } as const;
  assert.deepEqual(readEventsQuery(searchOf(eventsPath(query))), query);
  assert.equal(eventsPath({ about: '', severity: '', page: 1 }), '/events');
  assert.deepEqual(readEventsQuery('?about=nothing&page=-1'), { about: '', severity: '', page: 1 });
});
