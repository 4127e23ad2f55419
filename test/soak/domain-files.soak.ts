/** Domains as files, 1,000 random ones. docs/decisions/0626 */
import { test } from 'node:test';
import { applyRandom } from '../support/cli/apply-random.ts';

test('1,000 random configurations are applied, exported to the octet, and not changed by applying them again', async (t) => {
  await applyRandom(t, 500);
});
