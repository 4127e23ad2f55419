import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultReport } from './fault-report.ts';

const PLACE = { path: '/console/domains', now: Date.UTC(2026, 0, 31, 12), browser: 'Browser/1' };

test('a report of a fault has the error, the page, the time, the browser and the first frames', () => {
  const error = new TypeError('x is null');
  const frames = Array.from({ length: 9 }, (_, n) => `    at f${n} (http://localhost/console/assets/a-1.js:1:${n})`);
  error.stack = ['TypeError: x is null', ...frames].join('\n');
  const lines = faultReport(error, PLACE).split('\n');
  assert.deepEqual(lines.slice(0, 4), [
    'TypeError: x is null',
    '/console/domains 2026-01-31T12:00:00.000Z',
    'Browser/1',
    'at f0 (http://localhost/console/assets/a-1.js:1:0)',
  ]);
  assert.equal(lines.length, 9);
});

test('a report of something that is no error says what it is', () => {
  assert.equal(faultReport('gone', PLACE).split('\n')[0], 'Error: gone');
});

test('a report has the frames as Firefox and Safari write them', () => {
  const error = new Error('x is null');
  error.stack = 'f@http://localhost/console/assets/a-1.js:1:2\n';
  assert.match(faultReport(error, PLACE), /\nf@http:/);
});
