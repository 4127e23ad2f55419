import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { eventually } from '../eventually.ts';
import { needs, obtain } from '../runner/needs.ts';
import { clockOff, startMachines } from './machines.ts';

/** Connects to a port without a listener: a machine that is reached refuses it. */
const CONNECT = `
  const socket = require('node:net').connect({ host: process.argv[1], port: 9, timeout: 1000 });
  socket.on('error', ({ code }) => { console.log(code); process.exit(); });
  socket.on('timeout', () => { console.log('timeout'); process.exit(); });`;

test(
  'machines reach each other until one is cut off, and are gone after the test',
  needs('namespaces', 'nft'),
  async (t) => {
    const names = () =>
      execFileSync(obtain('namespaces'), ['netns', 'list'], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.startsWith(`causeway-test-${process.pid}-`));
    const leftover = `causeway-test-${spawnSync('sh', ['-c', ':']).pid}-abc-fra1`; // of a process that has ended
    execFileSync(obtain('namespaces'), ['netns', 'add', leftover]);
    await t.test('machines of a test', (inner) => {
      const { one, other } = startMachines(inner, { one: '192.0.2.1', other: '192.0.2.2' });
      const [program = '', ...words] = one.inside;
      const reach = () =>
        execFileSync(program, [...words, process.execPath, '-e', CONNECT, other.address], { encoding: 'utf8' }).trim();
      assert.equal(reach(), 'ECONNREFUSED');
      other.cutOff();
      assert.equal(reach(), 'timeout');
      other.mend();
      assert.equal(reach(), 'ECONNREFUSED');
      assert.equal(names().length, 3);
    });
    await eventually('the namespaces are gone', () => names().length === 0);
    const all = execFileSync(obtain('namespaces'), ['netns', 'list'], { encoding: 'utf8' });
    assert.ok(!all.includes(leftover));
  },
);

test('a program with another clock has that, and timers as always', needs('faketime'), () => {
  const script = `
    const startedAt = performance.now();
    setTimeout(() => console.log(Date.now(), performance.now() - startedAt), 30);`;
  const env = { ...process.env, ...clockOff('+3d') };
  const [now = 0, waitedMs = 0] = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', env })
    .split(' ')
    .map(Number);
  const aheadMs = now - Date.now();
  assert.ok(Math.abs(aheadMs - 3 * 86_400_000) < 60_000, String(aheadMs));
  assert.ok(waitedMs >= 29 && waitedMs < 60_000, String(waitedMs));
});
