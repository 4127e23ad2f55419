/** Many viewers on one slow, large miss of a real service: how many fetches, and how much memory the worker takes for them. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { eventually } from '../eventually.ts';
import { startWithDomain } from '../process/service-with-domain.ts';
import { startOrigin } from './origin.ts';

const HOST = 'www.example.com';
const VIEWERS = 500;
const MIB = 2 ** 20;
const OBJECT_BYTES = 1024 * MIB;
/** What one viewer may add: what its connection has not taken, and what it is itself. */
const WINDOW_BYTES = 256 * 1024;

/** The origin sends `sentBytes` of the object, a piece each time all viewers have what was sent before. */
export async function crowdOneMiss(t: TestContext, sentBytes: number): Promise<void> {
  const held: ServerResponse[] = [];
  const origin = await startOrigin(t, (_request, response) => {
    response.writeHead(200, { 'cache-control': 'max-age=60', 'content-length': String(OBJECT_BYTES) });
    response.flushHeaders();
    held.push(response);
  });
  const { edgePort, worker } = await startWithDomain(t, origin.port);
  const before = residentBytes(worker);
  const viewers = Array.from({ length: VIEWERS }, () => openViewer(t, edgePort));
  await eventually('asked', () => held.length === 1);
  const piece = Buffer.alloc(MIB, 'x');
  let highest = 0;
  for (let sent = MIB; sent <= sentBytes; sent += MIB) {
    held[0]?.write(piece);
    await eventually('all have it', () => viewers.every((viewer) => viewer.bytes() >= sent), 60_000);
    highest = Math.max(highest, residentBytes(worker));
  }
  assert.equal(origin.requests.length, 1, 'one fetch for all');
  const perViewer = Math.round((highest - before) / VIEWERS);
  t.diagnostic(`${Math.round((highest - before) / MIB)} MiB for ${VIEWERS} viewers, ${perViewer} bytes each`);
  assert.ok(perViewer < WINDOW_BYTES, `${perViewer} bytes per viewer`);
}

function openViewer(t: TestContext, port: number) {
  let bytes = 0;
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined); // its end is the test's
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.write(`GET /large HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
  t.after(() => socket.destroy());
  return { bytes: () => bytes };
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}
