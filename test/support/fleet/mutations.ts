/** Sends mutated messages to a fleet listener, and bytes that are no TLS. docs/fleet.md */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import type { Identity } from '#fleet/identity.ts';
import { ENROL_PATH, RENEW_PATH } from '#fleet/messages.ts';
import { makeCsr } from '#model/csr.ts';
import { ask } from './ask.ts';
import type { TestFleet } from './fleet.ts';

/** Statuses of answers to mutated messages, and how often each was seen. */
export type Statuses = Readonly<Record<number, number>>;

const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1e300,
  '',
  'x'.repeat(20_000),
  [],
  {},
  '\u0000',
  '..',
  { a: { b: [] } },
];

/** Sends `runs` mutations of the messages of enrolment and renewal. No answer may be 5xx but 503, and none may be lost. */
export async function sendMutations(
  fleet: TestFleet,
  identity: Identity,
  runs: number,
  seed: number,
): Promise<Statuses> {
  const seen: Record<number, number> = {};
  const token = await fleet.createToken({ uses: 1000, expiresAt: fleet.now + 86_400_000 });
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const csr = makeCsr('', key).toString('base64');
  const rest = { csr, machine: identity.machine };
  const enrol = { ...rest, token, seal: Buffer.alloc(32, 1).toString('base64'), build: 'test', edge: 'fuzz' };
  const messages = [
    { path: ENROL_PATH, message: enrol },
    { path: RENEW_PATH, message: { ...rest, serial: identity.serial } },
  ];
  const mutation = fc.tuple(
    fc.constantFrom(...messages),
    fc.nat(),
    fc.constantFrom('value', 'drop', 'bytes', 'cut', 'text'),
    fc.nat(),
    fc.constantFrom(...ODD_VALUES),
  );
  const property = fc.asyncProperty(mutation, async ([{ path, message }, at, kind, how, odd]) => {
    const body = mutate(message, at, kind, how, odd);
    const { status } = await ask(fleet.control, identity, { path, method: 'POST', body });
    seen[status] = (seen[status] ?? 0) + 1;
    assert.ok(status < 500 || status === 503, `${status} to ${body.toString('latin1').slice(0, 300)}`);
  });
  await fc.assert(property, { numRuns: runs, seed });
  return seen;
}

function mutate(
  message: Readonly<Record<string, unknown>>,
  at: number,
  kind: string,
  how: number,
  odd: unknown,
): Buffer {
  const names = Object.keys(message);
  const name = names[at % names.length] ?? '';
  const text = Buffer.from(JSON.stringify(message));
  switch (kind) {
    case 'value':
      return Buffer.from(JSON.stringify({ ...message, [name]: odd }));
    case 'drop':
      return Buffer.from(JSON.stringify({ ...message, [name]: undefined }));
    case 'cut':
      return text.subarray(0, how % text.length);
    case 'text': {
      // A value of the same length, with one character changed: base64 that decodes to other DER.
      const value = String(message[name]);
      const place = how % value.length;
      const changed = value.slice(0, place) + (value[place] === 'A' ? 'B' : 'A') + value.slice(place + 1);
      return Buffer.from(JSON.stringify({ ...message, [name]: changed }));
    }
    default: {
      const bytes = Buffer.from(text);
      bytes[at % bytes.length] = how & 0xff;
      return bytes;
    }
  }
}

/** Sends random bytes in place of a handshake, on `count` connections. Each has to be closed by the listener. */
export async function sendNoise(fleet: TestFleet, count: number, seed: number): Promise<void> {
  const { port } = new URL(fleet.control);
  const property = fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 600 }), async (noise) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {}); // shows as closed
    socket.resume().end(noise);
    await once(socket, 'close');
  });
  await fc.assert(property, { numRuns: count, seed });
}
