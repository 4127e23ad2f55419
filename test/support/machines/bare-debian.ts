/** A minimal Debian with git and npm, made with debootstrap, in which the README's commands are tried. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { obtain } from '../runner/needs.ts';

const SAYS_WHAT_TO_INSTALL = /libatomic\.so\.1[\s\S]*apt-get install libatomic1/;

/** What each step of `bare-debian.sh` ends with, and says. */
const STEPS: readonly (readonly [name: string, exitCode: number, says: RegExp])[] = [
  ['a minimal Debian', 0, /^/],
  ['npm ci', 0, /added \d+ packages/],
  ['npm start without the library', 1, SAYS_WHAT_TO_INSTALL],
  ['npm test without the library', 1, SAYS_WHAT_TO_INSTALL],
  ['the command without the library', 127, SAYS_WHAT_TO_INSTALL],
  ['the library', 0, /^/],
  ['the first hit', 0, /^/],
  [
    'the package',
    0,
    /restored it to try it[\s\S]*SQLite answers and is up to date[\s\S]*made +user and group[\s\S]*nothing has changed/,
  ],
  ['the tests', 0, /\n\d+ passed, 0 failed, \d+ skipped$/],
];

/** Makes one, does what the README says, and runs the tests there by `command`. Declare with `needs('debootstrap')`. */
export async function tryBareDebian(t: TestContext, command: string): Promise<void> {
  obtain('debootstrap');
  const program = join(import.meta.dirname, 'bare-debian.sh');
  // It takes itself away when its standard input ends, so it is not to get Ctrl-C before that.
  const child = spawn('bash', [program, command], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.stdin.end();
    await ended;
  });
  const said = await text(child.stdout);
  const steps = new Map(
    [...said.matchAll(/([\s\S]*?)\n## (.*): (\d+)\n/g)].map(([, output = '', name = '', code]) => [
      name,
      { exitCode: Number(code), output: output.trim() },
    ]),
  );
  for (const [name, exitCode, says] of STEPS) {
    const step = steps.get(name);
    assert.equal(step?.exitCode, exitCode, `${name}:\n${step?.output ?? said}`);
    assert.match(step.output, says, name);
  }
  t.diagnostic(steps.get('the tests')?.output.split('\n').at(-1) ?? '');
}
