/**
 * Which part a receipt speaks of: only one that nothing in the receipt contradicts, and only where no other part could
 * be meant. Everything else waits. Pure. docs/decisions/0427
 */
import { isFinal, type PartState } from './sms-part.ts';

export interface ReceiptClues {
  /** Forms of the message id, the likeliest first; empty: the carrier named none. */
  readonly keys: readonly string[];
  /** Number of the last `keys` that are equally likely: forms of one id whose notation is unknown. */
  readonly equalKeys: number;
  /** E.164 with `+`; absent: any. */
  readonly number: string | undefined;
  /** The part's id modulo 2^`bits`. */
  readonly reference: { readonly value: number; readonly bits: number } | undefined;
  /** Instant by the carrier's clock. */
  readonly doneAt: number | undefined;
  readonly receivedAt: number;
}

export interface Candidate {
  readonly partId: number;
  /** The form of the carrier's id that it is stored under; absent: the id is not known. */
  readonly key: string | undefined;
  /** E.164 with `+` */
  readonly number: string;
  readonly submittedAt: number;
  readonly state: PartState;
}

/**
 * `number`: parts with its id went to other numbers. `ambiguous`: several parts fit, or one whose answer may bring the
 * id yet. `unknown`: nothing fits, or it is too early to say.
 */
export type Match =
  | { readonly kind: 'part'; readonly partId: number }
  | { readonly kind: 'waits'; readonly reason: 'unknown' | 'number' | 'ambiguous' };

interface MatchTime {
  readonly now: number;
  /** So long after a receipt no answer can bring its id any more. */
  readonly answersAfterMs: number;
}

/** Clocks of carriers, and of processes that share the database, may differ by so much. */
const TOLERANCE_MS = 60_000;

/**
 * `candidates`: every part of the connector that one of the receipt's keys names and that went out within the life of
 * an id; if none of these fits, every part to its number that has not ended; if one fits and `mayBeChance`, those to
 * its number whose answer is still out. Others are ignored.
 */
export function matchReceipt(clues: ReceiptClues, candidates: readonly Candidate[], time: MatchTime): Match {
  const named = matchByKey(clues, candidates);
  if (named === undefined) return matchWithoutKey(clues, candidates, time);
  return named.kind === 'part' && isGuess(named.partId, clues, candidates, time)
    ? { kind: 'waits', reason: 'ambiguous' }
    : named;
}

/** Whether one of several forms of the id may name a part by chance: then only its number says that it is the one. */
export function mayBeChance({ equalKeys, number, reference }: ReceiptClues): boolean {
  return equalKeys > 1 && number !== undefined && reference === undefined;
}

/** Another part to the number, whose answer is still out, may have got the id in another form. */
function isGuess(partId: number, clues: ReceiptClues, candidates: readonly Candidate[], time: MatchTime): boolean {
  if (!mayBeChance(clues)) return false;
  return candidates.some((other) => {
    if (other.partId === partId || other.key !== undefined || other.number !== clues.number) return false;
    if (other.submittedAt > clues.receivedAt) return false;
    const isLate = other.state === 'uncertain' && time.now - other.submittedAt < time.answersAfterMs;
    return other.state === 'submitting' || isLate;
  });
}

/** `undefined`: no part that one of the keys names fits. */
export function matchByKey(clues: ReceiptClues, candidates: readonly Candidate[]): Match | undefined {
  const possible = candidates.filter((candidate) => {
    const isEarlier = candidate.submittedAt <= clues.receivedAt + TOLERANCE_MS;
    return isEarlier && hasNumber(candidate, clues) && hasReference(candidate, clues);
  });
  for (const keys of keyGroups(clues)) {
    const named = possible.filter(({ key }) => key !== undefined && keys.includes(key));
    if (named.length > 0) return onlyOne(named, clues);
  }
  return undefined;
}

function keyGroups({ keys, equalKeys }: ReceiptClues): readonly (readonly string[])[] {
  const sure = keys.length - equalKeys;
  return [...keys.slice(0, sure).map((key) => [key]), keys.slice(sure)];
}

function hasNumber({ number }: Candidate, clues: ReceiptClues): boolean {
  return clues.number === undefined || clues.number === number;
}

function hasReference({ partId }: Candidate, { reference }: ReceiptClues): boolean {
  return reference === undefined || partId % 2 ** reference.bits === reference.value;
}

function onlyOne(named: readonly Candidate[], { doneAt }: ReceiptClues): Match {
  const [first] = named;
  if (first !== undefined && named.length === 1) return { kind: 'part', partId: first.partId };
  const open = named.filter(({ state }) => !isFinal(state));
  const before = open.filter(({ submittedAt }) => doneAt === undefined || submittedAt <= doneAt + TOLERANCE_MS);
  const [only] = before;
  if (only !== undefined && before.length === 1) return { kind: 'part', partId: only.partId };
  return { kind: 'waits', reason: open.length === 0 ? 'unknown' : 'ambiguous' };
}

function matchWithoutKey(clues: ReceiptClues, candidates: readonly Candidate[], time: MatchTime): Match {
  const { keys, number, reference, receivedAt } = clues;
  const isNamed = (candidate: Candidate) => candidate.key !== undefined && keys.includes(candidate.key);
  const unfit = candidates.some((it) => isNamed(it) && !hasNumber(it, clues)) ? 'number' : 'unknown';
  // Without a number every part of the connector could be meant.
  const own = candidates.filter((candidate) => {
    return candidate.number === number && candidate.submittedAt <= receivedAt && hasReference(candidate, clues);
  });
  const hasId = keys.length > 0;
  // A part with another id is not the one.
  const open = own.filter(({ key, state }) => {
    return (state === 'uncertain' || state === 'submitted') && (!hasId || key === undefined);
  });
  const [only] = open;
  const isUnique = open.length === 1 && only !== undefined;
  if (isUnique && reference !== undefined) return { kind: 'part', partId: only.partId };
  if (own.some(({ state }) => state === 'submitting'))
    return { kind: 'waits', reason: hasId && open.length === 0 ? unfit : 'ambiguous' };
  if (open.length > 1) return { kind: 'waits', reason: 'ambiguous' };
  const isTime = !hasId || time.now - receivedAt >= time.answersAfterMs;
  return isUnique && isTime ? { kind: 'part', partId: only.partId } : { kind: 'waits', reason: unfit };
}
