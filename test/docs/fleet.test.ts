/** The walk-through of docs/fleet.md, run as it is written, each block on its machine: a namespace with its address. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { type Machine, startMachines } from '../support/fleet/machines.ts';
import { surroundings } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ROOT = join(import.meta.dirname, '../..');
const ADDRESSES = { control: '192.0.2.10', fra1: '192.0.2.21', par1: '192.0.2.22' } as const;
/** Limit of one block on a machine that many tests share. */
const BLOCK_LIMIT_MS = 120_000;

type Name = keyof typeof ADDRESSES;

test('the walk-through of three machines works as it is written', needs('namespaces', 'curl'), async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'bin'));
  symlinkSync(join(ROOT, 'bin/causeway.js'), join(folder, 'bin/causeway'));
  const machines = startMachines(t, ADDRESSES);
  const blocks = readBlocks(readFileSync(join(ROOT, 'docs/fleet.md'), 'utf8'));
  assert.ok(blocks.length >= 7, 'docs/fleet.md has its walk-through');
  for (const [index, { name, text, expected }] of blocks.entries()) {
    const cwd = join(folder, name);
    mkdirSync(cwd, { recursive: true });
    if (name !== 'control') copyFileSync(join(folder, 'control/token'), join(cwd, 'token'));
    const { code, output } = await run(machines[name], { folder, cwd, text });
    assert.equal(code, 0, `block ${index + 1}, on ${name}:\n${text}\nshowed: ${output}`);
    // In their order: each is looked for after the one before it.
    let from = 0;
    for (const part of expected) {
      const at = output.indexOf(part, from);
      assert.ok(at >= 0, `block ${index + 1}, on ${name}:\n${text}\nshould show: ${part}\nshowed: ${output}`);
      from = at + part.length;
    }
  }
});

interface Block {
  readonly name: Name;
  readonly text: string;
  readonly expected: readonly string[];
}

/** The blocks of the walk-through, each marked with its machine: `sh control`. */
function readBlocks(document: string): readonly Block[] {
  return [...document.matchAll(/^```sh (\w+)\n(.*?)^```$/gms)].map(([, name = '', text = '']) => {
    assert.ok(isName(name), `a block is of a machine that there is, not ${name}`);
    const expected = [...text.matchAll(/^# → (.*)$/gm)].map(([, part = '']) => part);
    return { name, text, expected };
  });
}

function isName(name: string): name is Name {
  return Object.hasOwn(ADDRESSES, name);
}

async function run(
  { inside }: Machine,
  { folder, cwd, text }: { readonly folder: string; readonly cwd: string; readonly text: string },
): Promise<{ readonly code: unknown; readonly output: string }> {
  const path = [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter);
  const [program = '', ...words] = [...inside, 'bash', '-c', `set -e\n${text}`];
  const child = spawn(program, words, {
    cwd,
    env: { ...surroundings(), PATH: path, CAUSEWAY_EDGE_WORKERS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BLOCK_LIMIT_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  const [code] = await once(child, 'exit');
  return { code, output };
}
