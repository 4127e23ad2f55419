/** The README's two commands where there is nothing but a minimal Debian, git and npm, with some of the tests. */
import { test } from 'node:test';
import { tryBareDebian } from '../support/machines/bare-debian.ts';
import { needs } from '../support/runner/needs.ts';

test('a minimal Debian says what it lacks, then serves a hit and passes tests', needs('debootstrap'), async (t) => {
  await tryBareDebian(t, 'npm run --silent test:bare');
});
