/** `causeway doctor` and the files of a machine that others can reach: it finds them, and changes none. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DoctorFinding } from '#cli/command/doctor-finding.ts';
import { runCommand } from '../support/process/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('a settings file that others may change is a problem, and one that others may read is if it has a secret', async (t) => {
  const file = join(temporaryFolder(t), 'own.toml');
  writeFileSync(file, 'cname-suffix = "cdn.example"\n');
  const found = async (mode: number) => {
    chmodSync(file, mode);
    const args = ['doctor', '--json', '--config', file];
    const settings = { CAUSEWAY_DATA_DIR: join(temporaryFolder(t), 'data') };
    const findings: readonly DoctorFinding[] = JSON.parse((await runCommand(t, args, { settings })).stdout);
    const [, ...more] = findings.filter(({ check }) => check === 'settings');
    return more.map(({ state, found: what, advice }) => `${state} ${what}; ${advice}`);
  };
  assert.deepEqual(await found(0o644), []);
  for (const mode of [0o664, 0o646])
    assert.deepEqual(await found(mode), [
      `problem ${file} has mode ${mode.toString(8)}: other users can change the settings; chmod go-w ${file}`,
    ]);
  writeFileSync(file, `bootstrap-token = "${'x'.repeat(32)}"\n`);
  assert.deepEqual(await found(0o640), []);
  assert.deepEqual(await found(0o644), [
    `warning ${file} has mode 644: other users can read bootstrap-token; chmod o-rwx ${file}`,
  ]);
});

test('links in the data directory lead doctor to no file that it changes', async (t) => {
  const [folder, elsewhere] = [temporaryFolder(t), temporaryFolder(t)];
  for (const [name, content] of [
    ['lock', ''],
    ['causeway.db', ''],
    ['other.db', 'text'],
  ] as const) {
    writeFileSync(join(elsewhere, name), content, { mode: 0o644 });
    chmodSync(join(elsewhere, name), 0o644);
  }
  mkdirSync(join(folder, 'run'));
  symlinkSync(join(elsewhere, 'lock'), join(folder, 'lock'));
  for (const target of ['causeway.db', 'other.db']) {
    symlinkSync(join(elsewhere, target), join(folder, 'causeway.db'));
    await runCommand(t, ['doctor'], { settings: { CAUSEWAY_DATA_DIR: folder } });
    rmSync(join(folder, 'causeway.db'));
  }
  const modes = readdirSync(elsewhere).map((name) => [name, statSync(join(elsewhere, name)).mode & 0o777]);
  assert.deepEqual(modes, [
    ['causeway.db', 0o644],
    ['lock', 0o644],
    ['other.db', 0o644],
  ]);
});
