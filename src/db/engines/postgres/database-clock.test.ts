import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseClock } from './database-clock.ts';

/** Clocks of a machine that a test sets, and a server whose clock it sets too. */
function openClocks() {
  const its = { wall: 1_000_000, steady: 500, server: 2_000_000 };
  const clock = new DatabaseClock({ wall: () => its.wall, steady: () => its.steady });
  const pass = (ms: number) => {
    its.wall += ms;
    its.steady += ms;
    its.server += ms;
  };
  /** The server reads its clock after `thereMs`, and the answer arrives `backMs` later. */
  const compare = (thereMs = 0, backMs = 0) =>
    clock.compare(async () => {
      pass(thereMs);
      const read = its.server;
      pass(backMs);
      return read;
    });
  return { its, clock, pass, compare };
}

test('a clock without a reading is that of the machine', () => {
  const { clock, its } = openClocks();
  assert.equal(clock.now(), its.wall);
});

test('a reading sets the clock to the server, and it goes on by the time that passes', async () => {
  const { clock, its, pass, compare } = openClocks();
  assert.equal(await compare(), its.wall - its.server);
  pass(7_500);
  assert.equal(clock.now(), its.server);
});

test('an estimate is never further from the server than the round trip took', async () => {
  const { clock, its, compare } = openClocks();
  for (const [there, back] of [
    [900, 0],
    [0, 900],
    [3, 5],
    [400, 100],
  ] as const) {
    await compare(there, back);
    assert.ok(Math.abs(clock.now() - its.server) <= there + back, `${there} and ${back} ms`);
  }
});

test('a slow round trip does not worsen a good estimate', async () => {
  const { clock, its, compare } = openClocks();
  await compare();
  await compare(900, 0);
  assert.equal(clock.now(), its.server);
});

test('the offset of the machine is returned, ahead as positive and behind as negative', async () => {
  const { its, compare } = openClocks();
  its.wall = its.server + 20_000;
  assert.equal(await compare(), 20_000);
  its.wall = its.server - 6_000;
  assert.equal(await compare(), -6_000);
});

test('time that only the wall clock counted, as of a suspended machine, is over', async () => {
  const { clock, its, compare } = openClocks();
  await compare();
  its.wall += 60_000;
  its.server += 60_000;
  assert.equal(clock.now(), its.server);
});

test('a wall clock that is set back does not turn the clock back', async () => {
  const { clock, its, pass, compare } = openClocks();
  await compare();
  its.wall -= 3_600_000;
  pass(100);
  assert.equal(clock.now(), its.server);
});

test('a server that steps, as another one does after a promotion, is followed', async () => {
  const { clock, its, compare } = openClocks();
  await compare();
  its.server += 90_000;
  await compare(10, 10);
  assert.ok(Math.abs(clock.now() - its.server) <= 20);
  its.server -= 180_000;
  await compare(10, 10);
  assert.ok(Math.abs(clock.now() - its.server) <= 20);
});
