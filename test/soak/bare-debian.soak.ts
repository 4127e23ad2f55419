/** The README's two commands where there is nothing but a minimal Debian, git and npm, as they stand. */
import { test } from 'node:test';
import { tryBareDebian } from '../support/machines/bare-debian.ts';
import { needs } from '../support/runner/needs.ts';

test('npm test passes on a minimal Debian', needs('debootstrap'), (t) => tryBareDebian(t, 'npm test'));
