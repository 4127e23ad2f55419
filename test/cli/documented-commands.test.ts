/** The table of commands in docs/operations.md and the commands that there are. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listCommands } from '../support/cli/list-commands.ts';

const OPERATIONS = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');

/** `domain add`, `show` in one row are `domain add` and `domain show`. */
function documentedCommands(): readonly string[] {
  const [, table = ''] = /^\| command \| does \| needs \|\n\|---\|---\|---\|\n((?:\|.*\n)+)/m.exec(OPERATIONS) ?? [];
  return table.split('\n').flatMap((row) => {
    const [, cell = ''] = row.split(' | ', 1)[0]?.split('| ') ?? [];
    const [first = '', ...others] = [...cell.matchAll(/`([a-z][a-z -]*)/g)].map(
      ([, code = '']) => code.split(' -')[0]?.trim() ?? '',
    );
    const group = first.split(' ').slice(0, -1).join(' ');
    return first === '' ? [] : [first, ...others.map((name) => (name.includes(' ') ? name : `${group} ${name}`))];
  });
}

test('docs/operations.md has every command, and no other', async () => {
  const commands = await listCommands();
  const documented = documentedCommands();
  assert.ok(commands.length > 60 && documented.length > 40);
  const isBelow = (path: string, other: string) => path === other || path.startsWith(`${other} `);
  assert.deepEqual(
    documented.filter((path) => !commands.includes(path)),
    [],
  );
  assert.deepEqual(
    commands.filter((path) => !documented.some((one) => isBelow(path, one) || isBelow(one, path))),
    [],
  );
});
