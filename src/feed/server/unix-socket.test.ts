import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { listenOnSocket } from './unix-socket.ts';

test('a start waits for the control of a killed service to end', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-socket-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'feed.sock');
  const former = createServer((socket) => socket.destroy());
  former.listen(path);
  await once(former, 'listening');
  const asked = once(former, 'connection');
  const next = createServer();
  t.after(() => next.close());
  const listening = listenOnSocket(next, path);
  await asked;
  former.close();
  await listening;
  assert.equal(next.address(), path);
});
