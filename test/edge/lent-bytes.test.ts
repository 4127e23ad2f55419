/** No viewer gets a byte of another answer, whatever an origin's writes are split into and however slowly viewers read. docs/decisions/0556 */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connectRaw, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { startRawOrigin } from '../support/edge/origin.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const VIEWERS = 20;
/** More than the system's buffers and ours hold: the origin has to wait for viewers that read nothing. */
const SLOW_BYTES = 9 * MIB;
const SLOW_VIEWERS = 3;
const FRAMINGS = ['chunked', 'close', 'length'] as const;

describe('bodies of many connections at once', () => {
  for (const [kind, field] of [
    ['not stored', 'Cache-Control: no-store'],
    ['stored', 'Cache-Control: max-age=60'],
  ] as const) {
    test(`bodies are never mixed if they are ${kind}, for any splits of their bytes`, async (t) => {
      const random = createRandom(kind.length);
      const bodies = new Map<string, string>();
      const origin = await startRawOrigin(t, (socket, head) => {
        const name = head.slice('GET /'.length, head.indexOf(' HTTP'));
        void send(socket, format(name, field, bodies.get(name) ?? ''), name.startsWith('close'), random);
      });
      const edge = await startTestEdge(t, [origin.port], {
        cacheBytes: 512 * MIB,
        limits: { maxOriginConnections: 16, maxBufferMemoryBytes: MIB },
      });
      const fast = Array.from({ length: VIEWERS }, (_, i) => `${FRAMINGS[i % 3]}-${i}`);
      for (const name of fast) bodies.set(name, patterned(name, random(300 * KIB)));
      const slow = Array.from({ length: SLOW_VIEWERS }, (_, i) => `length-slow-${i}`).map((name) => {
        bodies.set(name, patterned(name, SLOW_BYTES + random(64 * KIB)));
        const client = ask(edge.port, name);
        client.socket.pause();
        return { name, client };
      });
      const received = await Promise.all(
        fast.map((name, i) => edge.get(`/${name}`, { from: `127.0.0.${2 + (i % 8)}` })),
      );
      for (const [i, name] of fast.entries()) assert.ok(received[i]?.body === bodies.get(name), name);
      for (const { client } of slow) client.socket.resume();
      for (const { name, client } of slow) {
        assert.ok(bodyOf(await client.closed) === bodies.get(name), name);
      }
    });
  }
});

function ask(port: number, name: string) {
  const head = `GET /${name} HTTP/1.1\r\nHost: ${SITE_HOST}\r\nConnection: close\r\n\r\n`;
  return connectRaw(port, head, `127.0.1.${1 + Number(name.at(-1))}`);
}

function bodyOf(text: string): string {
  const end = text.indexOf('\r\n\r\n');
  return end === -1 ? '' : text.slice(end + 4);
}

/** Every 16 bytes name their body and their place. */
function patterned(name: string, sizeBytes: number): string {
  const lines: string[] = [];
  for (let at = 0; at < sizeBytes; at += 16) lines.push(`${name.slice(-6)}${at.toString(36)}`.padStart(16, '.'));
  return lines.join('').slice(0, sizeBytes);
}

function format(name: string, field: string, body: string): string {
  const head = `HTTP/1.1 200 OK\r\n${field}\r\n`;
  if (name.startsWith('length')) return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  if (name.startsWith('close')) return `${head}\r\n${body}`;
  const chunks: string[] = [];
  for (let at = 0; at < body.length; at += 10_007) {
    const chunk = body.slice(at, at + 10_007);
    chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  }
  return `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`;
}

/** Writes the text in pieces of random sizes, some of them in one turn. */
async function send(socket: Socket, text: string, ends: boolean, random: (below: number) => number): Promise<void> {
  for (let at = 0; at < text.length && !socket.destroyed; ) {
    const size = 1 + random([200, 20_000, 90_000][random(3)] ?? 1);
    socket.write(text.slice(at, at + size), 'latin1');
    at += size;
    if (random(3) > 0) await turn();
  }
  if (ends) socket.end();
}

/** Whole numbers from 0, the same ones for the same seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return Math.floor((state / 0x8000_0000) * below);
  };
}
