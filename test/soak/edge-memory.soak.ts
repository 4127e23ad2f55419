/** A million small objects through one edge worker of the real service. */
import { test } from 'node:test';
import { passManyKeys } from '../support/edge/pass-many-keys.ts';

test('a million keys of 1 KiB pass through a worker with 256 MiB of memory within 150 MiB more', (t) =>
  passManyKeys(t, 1_000_000, 256));
