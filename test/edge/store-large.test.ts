/** A large object through an edge process; `test/soak/store.soak.ts` has the long one. */
import { test } from 'node:test';
import { passLargeObject } from '../support/edge/pass-large-object.ts';

test('a large object is stored while it passes, and the edge uses little memory for it', (t) =>
  passLargeObject(t, 192));
