/**
 * Filters interim responses for undici, which closes a connection on an unasked `100 Continue` and does not continue
 * after an interim response with `Connection: close`; a client must be able to read both. Heads beyond the limits are
 * left to the parser, which refuses them. RFC 9110 §15.2
 */
import type { Socket } from 'node:net';
import { MAX_INTERIM, MAX_RESPONSE_HEAD_BYTES } from './response-limits.ts';

/** Bytes that are needed to recognize an interim response. */
const STATUS_BYTES = 'HTTP/1.1 100'.length;

/** Filters the bytes of one connection. Pure. */
export class InterimFilter {
  /** A response is expected, and its final head has not begun. */
  #isExpecting = false;
  #pending: Buffer = NOTHING;
  #dropped = 0;

  /** A request is being sent: the next bytes are the head of a response. */
  expect(): void {
    this.#isExpecting = true;
    this.#dropped = 0;
  }

  /** Returns the bytes for the parser, of these and of those held back before; empty if more are needed. */
  pass(bytes: Buffer): Buffer {
    if (!this.#isExpecting) return bytes;
    let rest = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    this.#pending = NOTHING;
    const passed: Buffer[] = [];
    while (this.#isExpecting && rest.length > 0) {
      const head = readInterim(rest);
      if (head.kind === 'partial') {
        this.#pending = rest;
        return Buffer.concat(passed);
      }
      this.#isExpecting = head.kind === 'interim' && this.#dropped < MAX_INTERIM;
      if (head.kind === 'other' || !this.#isExpecting) break;
      if (head.status === '100') this.#dropped++;
      else passed.push(withoutClose(rest.subarray(0, head.bytes)));
      rest = rest.subarray(head.bytes);
    }
    return passed.length === 0 ? rest : Buffer.concat([...passed, rest]);
  }
}

const NOTHING = Buffer.alloc(0);

type Head =
  | { readonly kind: 'interim'; readonly status: string; readonly bytes: number }
  /** Possibly an interim response, still incomplete. */
  | { readonly kind: 'partial' }
  | { readonly kind: 'other' };

function readInterim(bytes: Buffer): Head {
  const start = bytes.toString('latin1', 0, STATUS_BYTES);
  const [, status] = /^HTTP\/1\.[01] (1\d\d)$/.exec(start) ?? [];
  if (status === undefined) return couldBecomeInterim(start) ? { kind: 'partial' } : { kind: 'other' };
  if (status === '101') return { kind: 'other' }; // the last response on its connection, asked for or not
  const end = /\n\r?\n/.exec(bytes.toString('latin1', 0, MAX_RESPONSE_HEAD_BYTES));
  if (end !== null) return { kind: 'interim', status, bytes: end.index + end[0].length };
  return bytes.length < MAX_RESPONSE_HEAD_BYTES ? { kind: 'partial' } : { kind: 'other' };
}

function couldBecomeInterim(start: string): boolean {
  return start.length < STATUS_BYTES && /^HTTP\/1\.[01] 1\d\d$/.test(start + 'HTTP/1.1 100'.slice(start.length));
}

/** Removes the `close` option: an interim response never ends a connection. Other options of `Connection` are kept. */
function withoutClose(head: Buffer): Buffer {
  const text = head
    .toString('latin1')
    .replace(/^HTTP\/1\.0/, 'HTTP/1.1')
    .replace(/(?<=\nconnection:)[^\r\n]*/gi, (value: string) => ` ${withoutOption(value)}`);
  return Buffer.from(text, 'latin1');
}

function withoutOption(value: string): string {
  return value
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option.toLowerCase() !== 'close')
    .join(', ');
}

/** Patches a connection's `read` and `write` for undici. Returns the same socket. */
export function filterInterim(socket: Socket): Socket {
  const filter = new InterimFilter();
  const { read } = socket;
  socket.read = (size) => {
    for (;;) {
      const bytes: Buffer | null = read.call(socket, size);
      if (bytes === null) return null;
      const passed = filter.pass(bytes);
      if (passed.length > 0) return passed;
    }
  };
  const { write } = socket;
  // `as`: every overload of `write` passes its arguments on.
  socket.write = ((...args: unknown[]) => {
    const [data] = args;
    // Of the text that undici writes, only request heads contain this; the rest is chunk framing.
    if (typeof data === 'string' && data.includes(' HTTP/1.1\r\n')) filter.expect();
    return Reflect.apply(write, socket, args);
  }) as Socket['write'];
  return socket;
}
