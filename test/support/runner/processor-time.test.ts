import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { ProcessorTimes, processorSeconds, tellProcessorTime } from './processor-time.ts';

const BUSY = 'while (process.cpuUsage().user < 300_000);';

test('the processor time of a process has that of the programs that it ran', () => {
  const before = processorSeconds();
  spawnSync(process.execPath, ['-e', BUSY]);
  assert.ok(processorSeconds() - before >= 0.25, `${processorSeconds() - before}`);
});

test('the end of a run lists the processes that took most processor time', () => {
  const times = new ProcessorTimes();
  const note = (name: string, message: string) => times.note({ file: `/tmp/some/${name}.test.ts`, message });
  note('a', 'processor time: 1.5 s');
  assert.deepEqual(times.lines, []);
  note('b', 'processor time: 20.0 s');
  note('b', 'something else');
  tellProcessorTime({ diagnostic: (message) => note('c', message) });
  const text = times.lines.join('\n');
  assert.match(text, /^2\d s of processor time in 3 processes, .*:\n {4}20\.0 s {2}b\n/);
  assert.match(text, /^ +\d+\.\d s {2}c$/m);
});
