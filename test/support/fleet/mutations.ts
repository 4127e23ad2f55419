/** Mutations of the messages that edges send, and of the first bytes of a handshake. docs/fleet.md */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';

/** A well-formed request of an edge. */
export interface Message {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Members of the query, for a GET. */
  readonly query?: Readonly<Record<string, string>>;
  /** A body of JSON, or its first line if there is a `tail`. */
  readonly json?: Readonly<Record<string, unknown>>;
  /** Bytes after the first line. */
  readonly tail?: Buffer;
}

export interface Mutated {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
}

/** Statuses of answers, and how often each was seen. */
export type Statuses = Record<number, number>;

const ODD_VALUES: readonly unknown[] = [
  ...[null, true, -1, 0.5, 1e300, 2 ** 31, 2 ** 53, 2 ** 63, 8.64e15 + 1, -0, '', [], {}],
  ...['x'.repeat(20_000), '\0', 'a\0b', '\ud800', '..', '../../etc/passwd', "'; drop table edge; --", '__proto__'],
  ...[{ a: { b: [] } }, Array(3000).fill(0), ['\0'], Array(200).fill('x')],
];

/**
 * Sends `runs` mutations of each message, as many at once as `atOnce`. No answer may be 5xx but 503. Resolves with the
 * statuses of each path.
 */
export async function sendMutations(
  send: (mutated: Mutated) => Promise<number>,
  messages: readonly Message[],
  { runs, seed, atOnce = 1 }: { readonly runs: number; readonly seed: number; readonly atOnce?: number },
): Promise<Readonly<Record<string, Statuses>>> {
  const seen: Record<string, Statuses> = {};
  for (const message of messages) {
    const statuses: Statuses = {};
    seen[message.path] = statuses;
    const mutations = fc.sample(mutationOf(message), { numRuns: runs, seed });
    const work = async () => {
      for (let mutated = mutations.pop(); mutated !== undefined; mutated = mutations.pop()) {
        const status = await send(mutated);
        statuses[status] = (statuses[status] ?? 0) + 1;
        const what = `${mutated.method} ${mutated.path} ${mutated.body.toString('latin1').slice(0, 500)}`;
        assert.ok(status < 500 || status === 503, `seed ${seed}: ${status} to ${what}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }
  return seen;
}

const KINDS = ['value', 'value', 'drop', 'bytes', 'cut', 'text', 'twice', 'more', 'method', 'whole'] as const;
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'] as const;

function mutationOf(message: Message): fc.Arbitrary<Mutated> {
  return fc
    .record({
      kind: fc.constantFrom(...KINDS),
      at: fc.nat(),
      how: fc.nat(),
      odd: fc.oneof(fc.constantFrom(...ODD_VALUES), fc.jsonValue()),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 64 }),
    })
    .map((mutation) => mutate(message, mutation));
}

interface Mutation {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly how: number;
  readonly odd: unknown;
  readonly bytes: Uint8Array;
}

function mutate(message: Message, mutation: Mutation): Mutated {
  const { kind, how, odd } = mutation;
  const { method, path, query, json = {}, tail } = message;
  if (query !== undefined) {
    const changed = changeAt(query, mutation);
    const text = new URLSearchParams();
    for (const [name, value] of Object.entries(changed === odd ? { odd } : Object(changed)))
      text.append(name, (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 2000));
    return { method, path: kind === 'whole' ? path : `${path}?${text}`, body: Buffer.alloc(0) };
  }
  const bodyOf = (head: unknown) => {
    const line = Buffer.from(JSON.stringify(head) ?? '');
    return tail === undefined ? line : Buffer.concat([line, Buffer.from('\n'), tail]);
  };
  const good = bodyOf(json);
  switch (kind) {
    case 'whole':
      return { method, path, body: good };
    case 'method':
      return { method: METHODS[how % METHODS.length] ?? 'PUT', path, body: good };
    case 'value':
    case 'drop':
      return { method, path, body: bodyOf(changeAt(json, mutation)) };
    case 'more':
      return { method, path, body: bodyOf({ ...json, [`more${how % 3}`]: odd }) };
    default:
      return { method, path, body: mutateBytes(good, mutation) };
  }
}

function mutateBytes(good: Buffer, { kind, at, how, bytes }: Mutation): Buffer {
  const place = at % good.length;
  switch (kind) {
    case 'cut':
      return good.subarray(0, how % good.length);
    case 'twice':
      return Buffer.concat([good, good]);
    case 'text': {
      // One character in place of another: base64 that decodes to other DER, a number with another digit.
      const changed = Buffer.from(good);
      changed[place] = (good[place] ?? 0) === 0x41 ? 0x42 : 0x41;
      return changed;
    }
    default:
      return Buffer.concat([good.subarray(0, place), bytes, good.subarray(place + (how % 8))]);
  }
}

/** Returns a copy in which one member, however deep, has another value or is missing. */
function changeAt(value: unknown, mutation: Pick<Mutation, 'kind' | 'at' | 'odd'>): unknown {
  const places = [...listPlaces(value, [])];
  const place = places[mutation.at % places.length] ?? [];
  const copy: unknown = structuredClone(value);
  // `as`: all but the last step of a place lead to objects.
  const owner = place.slice(0, -1).reduce((of, step) => Object(of)[step], copy) as Record<string, unknown>;
  const last = place.at(-1);
  if (last === undefined) return mutation.odd;
  if (mutation.kind === 'drop') delete owner[last];
  else Object.defineProperty(owner, last, { value: mutation.odd, enumerable: true });
  return copy;
}

function* listPlaces(value: unknown, place: readonly string[]): Iterable<readonly string[]> {
  yield place;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) yield* listPlaces(inner, [...place, name]);
}

/**
 * Sends random bytes in place of a handshake, or a genuine first message with a few other bytes, on `count` connections.
 * Each has to be closed by the listener.
 */
export async function sendNoise(port: number, count: number, seed: number): Promise<void> {
  const hello = await captureHello();
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 600 });
  const changes = fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
  const changed = changes.map((places) => {
    const copy = Buffer.from(hello);
    for (const [place, value] of places) copy[place] = value;
    return copy;
  });
  for (const noise of fc.sample(fc.oneof(bytes, changed), { numRuns: count, seed })) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}); // shows as closed
    socket.resume().end(noise);
    await once(socket, 'close');
  }
}

/** Returns the first bytes that a client sends. */
async function captureHello(): Promise<Buffer> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const client = connectTls({ port: Number(port), host: '127.0.0.1', minVersion: 'TLSv1.3' });
  client.on('error', () => {}); // it gets no answer
  // `as`: what these events carry.
  const [socket] = (await once(server, 'connection')) as [ReturnType<typeof connect>];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}
