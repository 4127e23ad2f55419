/** What `npm ci` installs, whichever Node npm runs on: the one that is needed comes with it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

interface LockedPackage {
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly engines?: { readonly node?: string };
}

test('no package for this system requires a newer Node than Debian has: npm would leave it out', () => {
  const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const left = Object.entries(packages).filter(
    ([, { optional = false, os = [], engines }]) =>
      optional && os.includes('linux') && engines?.node !== undefined && !/^>= ?1[0-8]\b/.test(engines.node),
  );
  // Take "engines" out of these entries of package-lock.json: docs/decisions/0413.
  assert.deepEqual(
    left.map(([path]) => path),
    [],
  );
});
