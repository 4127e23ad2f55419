import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCoordinates } from './edge-place.ts';

const ROWS: readonly (readonly [text: string, latitude: number | undefined, longitude: number | undefined])[] = [
  ['52.52,13.40', 52.52, 13.4],
  ['-33.87, 151.21', -33.87, 151.21],
  ['90,-180', 90, -180],
  ['90.1,0', undefined, undefined],
  ['0,181', undefined, undefined],
  ['52.52', undefined, undefined],
  ['north,east', undefined, undefined],
];

for (const [text, latitude, longitude] of ROWS)
  test(`${text} ${latitude === undefined ? 'is no place' : 'is a place'}`, () => {
    assert.deepEqual(parseCoordinates(text), latitude === undefined ? undefined : { latitude, longitude });
  });
