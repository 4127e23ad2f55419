/** The package and the image as their scripts build them, where buildah may make containers. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const PACKAGING = join(import.meta.dirname, '../../packaging');

test('an image made from the package runs the command', needs('buildah', 'debootstrap'), (t) => {
  const buildah = obtain('buildah');
  obtain('debootstrap'); // of the script
  const folder = temporaryFolder(t);
  const name = `causeway-test-${process.pid}`;
  const run = (program: string, ...args: readonly string[]) => execFileSync(program, args, { encoding: 'utf8' }).trim();
  const file = run('sh', join(PACKAGING, 'build-deb.sh'), folder, 'none');
  run('sh', join(PACKAGING, 'build-image.sh'), file, name);
  const container = run(buildah, 'from', name);
  t.after(() => {
    run(buildah, 'rm', container);
    run(buildah, 'rmi', name);
  });
  const inside = (...args: readonly string[]) => run(buildah, 'run', '--isolation', 'chroot', container, '--', ...args);
  assert.match(inside('/usr/bin/causeway', '--version'), /^\d+\.\d+\.\d+$/);
  assert.equal(inside('id', '-un'), 'causeway');
  assert.match(inside('cat', '/opt/causeway/current/console/dist/index.html'), /<script type="module"/);
});
