/**
 * Sequences of SGIP: twelve octets of the sender's choice that are unique in the network. That of a submit is the
 * message's id, and names the part: a report says of which, even if its answer was lost. Pure. docs/decisions/0758
 */
import type { PartReference } from '../carrier.ts';
import type { SequenceKey } from '../wire/dialect.ts';
import { beijingStamp } from '../wire/login-digest.ts';

const SECOND_MS = 1_000;
const WORD = 2 ** 32;
/** References are stored as positive integers of four octets. */
const REFERENCE_BITS = 31;

/** Returns hexadecimal digits. `number`: any integer; its lowest 32 bits count. */
export function sequenceOf(node: number, now: number, number: number): string {
  return hexWord(node) + hexWord(Number(beijingStamp(now))) + hexWord(number % WORD);
}

/** Returns a sequence that is not taken: a part that is sent again within a second gets a later time. */
export function freeSequence(
  node: number,
  now: number,
  number: number,
  isTaken: (key: SequenceKey) => boolean,
): string {
  let at = now;
  let sequence = sequenceOf(node, at, number);
  while (isTaken(sequence)) {
    at += SECOND_MS;
    sequence = sequenceOf(node, at, number);
  }
  return sequence;
}

/** Returns which part a whole sequence of ours names. */
export function referenceOf(sequence: string): PartReference {
  return { value: Number.parseInt(sequence.slice(-8), 16) % 2 ** REFERENCE_BITS, bits: REFERENCE_BITS };
}

function hexWord(value: number): string {
  return value.toString(16).padStart(8, '0');
}
