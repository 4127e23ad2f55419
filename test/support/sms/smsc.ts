/** A real carrier for tests: `smsc.pl` on Debian's Net::SMPP, told to misbehave. Declare the test with `needs('netSmpp')`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { obtain } from '../runner/needs.ts';

/**
 * Outcome of one submit: accepted; refused with that status; the connection dropped; accepted and then dropped before the
 * answer, the receipt going to the next session (`lost`); no answer at all; accepted after `slowMs`; or, instead of an answer,
 * bytes that are not a PDU, or a PDU whose length is too short or too long. With a `SmscPoison` the answer follows it in the
 * same piece.
 */
export type SmscAnswer =
  | 'ok'
  | number
  | 'drop'
  | 'lost'
  | 'silent'
  | 'slow'
  | 'garbage'
  | 'short'
  | 'long'
  | SmscPoison;

/**
 * A PDU whose length is right and whose content is not: a text that says it is longer than its PDU, a surplus octet, a text
 * without its end, fields that are missing, a parameter that is cut, a command that does not exist, an enquire_link with a body.
 */
export type SmscPoison = (typeof SMSC_POISONS)[number];
export const SMSC_POISONS = ['lying', 'surplus', 'noNul', 'cut', 'cutTlv', 'unknown', 'body'] as const;

export interface SmscOptions {
  /** A free one unless said; `restart` keeps it. */
  readonly port?: number;
  /** Answers to the first submits, of any session; then `otherwise`, `ok` by default. */
  readonly answers?: readonly SmscAnswer[];
  readonly otherwise?: SmscAnswer;
  /** `before`: the receipt is out before the answer. */
  readonly receipts?: 'after' | 'before' | 'twice' | 'none';
  /** How the answer writes its id, `hex` unless said, and how the receipt's text does, `decimal` unless said. */
  readonly ids?: 'hex' | 'decimal';
  readonly receiptIds?: 'hex' | 'decimal';
  /** The receipt's text; `bare`: only id and stat; `labelledUcs2`: ASCII that calls itself UCS-2. */
  readonly dialect?: 'full' | 'bare' | 'tlvOnly' | 'labelledUcs2';
  readonly stat?: string;
  /** So many binds are refused as already bound. */
  readonly alreadyBound?: number;
  /** A bind while another session is bound is refused as already bound. */
  readonly single?: boolean;
  /** Status of every bind. */
  readonly bindStatus?: number;
  /** Sent after each bind. */
  readonly greeting?: SmscPoison;
  /** Binds of this kind are. */
  readonly refused?: 'transmitter' | 'receiver' | '';
  /** A bind with another one is refused. */
  readonly password?: string;
  readonly slowMs?: number;
  /** enquire_link is not answered. */
  readonly deaf?: boolean;
  /** The first id is one more. */
  readonly firstId?: number;
}

export interface SmscSubmit {
  readonly answer: string;
  /** That it was, or would have been, given. */
  readonly id: string;
  readonly sequence: number;
  readonly from: string;
  readonly to: string;
  /** TON and NPI of the sender, then of the destination. */
  readonly types: readonly number[];
  readonly esmClass: number;
  readonly dataCoding: number;
  readonly registered: number;
  readonly validity: string;
  /** short_message in hexadecimal, its header included. */
  readonly text: string;
  /** Optional parameters by their number, in hexadecimal. */
  readonly tags: Readonly<Record<string, string>>;
}

export interface SmscEvent {
  /** listening, connected, closed, bind, submit, delivered (a receipt or reply was answered), nack, enquire, unbind, nobody */
  readonly event: string;
  readonly [name: string]: unknown;
}

export type SmscOrder =
  | { readonly do: 'set'; readonly options: SmscOptions }
  /** Orders to every session. */
  | { readonly do: 'drop' | 'unbind' | 'enquire' }
  | { readonly do: 'raw'; readonly hex: string }
  /** A message of a phone; `text` is hexadecimal. */
  | {
      readonly do: 'deliver';
      readonly from: string;
      readonly to: string;
      readonly text: string;
      readonly esmClass?: number;
      readonly dataCoding?: number;
    };

export interface Smsc {
  readonly port: number;
  /** Events since the first start, in order. */
  readonly events: readonly SmscEvent[];
  submits(): readonly SmscSubmit[];
  count(event: string): number;
  order(order: SmscOrder): void;
  /** Killed: its connections are reset or closed, whatever they were at. */
  stop(): Promise<void>;
  /** Starts again on the same port, after `stop`. Ids continue. */
  restart(options?: SmscOptions): Promise<void>;
}

export async function startSmsc(t: Pick<TestContext, 'after'>, options: SmscOptions = {}): Promise<Smsc> {
  const events: SmscEvent[] = [];
  const ofKind = (kind: string) => events.filter(({ event }) => event === kind);
  const port = options.port ?? (await freePort()); // not one of the kernel's, which another may have got when it restarts
  let child = await launch({ ...options, port }, events);
  const stop = () => end(child);
  t.after(stop);
  return {
    port,
    events,
    // What the script prints for a submit has these members.
    submits: () => ofKind('submit') as unknown as readonly SmscSubmit[],
    count: (kind) => ofKind(kind).length,
    order: (order) => void child.stdin?.write(`${JSON.stringify(order)}\n`),
    stop,
    async restart(changed = {}) {
      await stop();
      const firstId = (options.firstId ?? 0x39f99dd4) + ofKind('submit').length;
      child = await launch({ ...options, answers: [], ...changed, port, firstId }, events);
    },
  };
}

async function launch(options: SmscOptions, events: SmscEvent[]): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'smsc.pl');
  const child = spawn(obtain('netSmpp'), [script, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const before = events.length;
  createInterface(child.stdout).on('line', (line) => events.push(JSON.parse(line)));
  child.stdin.on('error', () => {}); // an order to one that has just ended
  await eventually('the carrier listens', () => events.slice(before).some(({ event }) => event === 'listening'));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
