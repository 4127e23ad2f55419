import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { watchHalfClosed } from './half-closed.ts';

test('a closed connection is watched no longer, even if its answer never ends', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const socket = new Socket();
  watchHalfClosed(socket, new Promise(() => {}), 60_000);
  assert.equal(timers(), before + 1);
  socket.destroy();
  await once(socket, 'close');
  assert.equal(timers(), before);
});
