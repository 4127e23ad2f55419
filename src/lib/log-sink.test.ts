import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../test/support/eventually.ts';
import { makePipe, opened, readSome } from '../../test/support/process/pipe.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { LogSink } from './log-sink.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

test('lines arrive whole and in order', async (t) => {
  const file = join(temporaryFolder(t), 'log');
  const sink = new LogSink(opened(t, file, 'a'), describeLoss);
  const lines = Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat(index * 2)}\n`);
  for (const line of lines) sink.write(line);
  await eventually('all lines', () => readFileSync(file, 'utf8') === lines.join(''));
  assert.equal(sink.lostLines, 0);
});

test('lines that a full disk refuses are counted', async (t) => {
  const sink = new LogSink(opened(t, '/dev/full', 'a'), describeLoss);
  for (let index = 0; index < 3; index++) sink.write('line\n');
  await eventually('three lines lost', () => sink.lostLines === 3);
});

test('a pipe that is not read costs lines and no time; their number is written when it is read again', async (t) => {
  const pipe = makePipe(t);
  const reader = opened(t, pipe, O_RDONLY | O_NONBLOCK);
  const sink = new LogSink(opened(t, pipe, O_WRONLY | O_NONBLOCK), describeLoss);
  const startedAt = performance.now();
  for (let index = 0; index < 3000; index++) sink.write(`${'x'.repeat(1000)}\n`);
  assert.ok(performance.now() - startedAt < 10_000);
  const { lostLines } = sink;
  assert.ok(lostLines > 1500 && lostLines < 3000, String(lostLines));
  let text = '';
  await eventually('all that was kept, and the number', () => {
    text += readSome(reader);
    return text.split('\n').length === 3000 - lostLines + 2;
  });
  assert.deepEqual(new Set(text.split('\n')), new Set(['x'.repeat(1000), `lost ${lostLines}`, '']));
});

test('the last lines before the end are written, even into a pipe that is just being emptied', async (t) => {
  const { child, said } = runScript(
    t,
    `for (let i = 0; i < 200; i++) sink.write('x'.repeat(999) + '\\n'); process.exit(3)`,
  );
  const [code] = await once(child, 'close');
  assert.deepEqual([code, said().length], [3, 200_000]);
});

test('a process ends soon although its last lines are not read', async (t) => {
  const { child } = runScript(t, `for (let i = 0; i < 900; i++) sink.write('x'.repeat(999) + '\\n'); process.exit(3)`);
  child.stderr.pause();
  const [code] = await once(child, 'exit');
  assert.equal(code, 3);
});

/** Runs a script with a `sink` on its standard error. `said` returns the output so far. */
function runScript(t: TestContext, script: string) {
  const module = JSON.stringify(join(import.meta.dirname, 'log-sink.ts'));
  const start = `import { LogSink, openStandardError } from ${module}; const sink = new LogSink(openStandardError(), String);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', `${start}${script}`], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return { child, said: () => text };
}

function describeLoss(lines: number): string {
  return `lost ${lines}\n`;
}
