import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PART_STATES } from './sms-part.ts';
import { type Candidate, type Match, matchReceipt, type ReceiptClues } from './sms-receipt-match.ts';

const SENT = 1_000_000_000;
const HERE = '+8613800138000';
const ELSEWHERE = '+8613900139000';
const WAIT_MS = 35_000;

function part(partId: number, changed: Partial<Candidate> = {}): Candidate {
  return { partId, key: `k${partId}`, number: HERE, submittedAt: SENT, state: 'submitted', ...changed };
}

function clues(changed: Partial<ReceiptClues> = {}): ReceiptClues {
  const none = { number: HERE, reference: undefined, doneAt: undefined };
  return { keys: ['k1'], equalKeys: 0, receivedAt: SENT + 5_000, ...none, ...changed };
}

const IN_DOUBT = { key: undefined, state: 'uncertain' } as const;
const ON_ITS_WAY = part(2, { state: 'submitting', key: undefined });
/** Two forms of an id whose writing nobody knows. */
const FORMS = { keys: ['k1', 'k9'], equalKeys: 2 };
const UNKNOWN_ID = { keys: ['new'] };
const WAITED = { receivedAt: SENT + 1, waitedMs: WAIT_MS };

describe('matching of receipts', () => {
  type Row = readonly [string, Partial<ReceiptClues> & { waitedMs?: number }, readonly Candidate[], number | string];
  const ROWS: readonly Row[] = [
    ['the part with its id', {}, [part(1), part(2)], 1],
    ['the part with its id, also when it has ended', {}, [part(1, { state: 'failed' })], 1],
    ['nothing if no part has its id', {}, [part(2)], 'unknown'],
    ['no part of another number', {}, [part(1, { number: ELSEWHERE })], 'number'],
    ['a part of any number if it names none', { number: undefined }, [part(1, { number: ELSEWHERE })], 1],
    ['no part that was sent after it', {}, [part(1, { submittedAt: SENT + 65_001 })], 'unknown'],
    ['a part of a clock that is slightly ahead', {}, [part(1, { submittedAt: SENT + 65_000 })], 1],
    ['no part with another reference', { reference: { value: 2, bits: 16 } }, [part(1)], 'unknown'],
    ['a part with its reference', { reference: { value: 1, bits: 8 } }, [part(257, { key: 'k1' })], 257],
    [
      'a part with a reference of 32 bits',
      { reference: { value: 1, bits: 32 } },
      [part(65_537, { key: 'k1' })],
      'unknown',
    ],
    ['the one with its reference', { reference: { value: 2, bits: 16 } }, [part(1), part(2, { key: 'k1' })], 2],
    ['the one that has not ended', {}, [part(1, { state: 'delivered' }), part(2, { key: 'k1' })], 2],
    [
      'the one that was sent before its date',
      { doneAt: SENT },
      [part(1), part(2, { key: 'k1', submittedAt: SENT + 60_001 })],
      1,
    ],
    ['none of several', {}, [part(1), part(2, { key: 'k1' })], 'ambiguous'],
    [
      'none of several that have ended',
      {},
      [part(1, { state: 'failed' }), part(2, { key: 'k1', state: 'failed' })],
      'unknown',
    ],
    ['the likelier form of its id', { keys: ['k1', 'k2'] }, [part(1), part(2)], 1],
    ['the form with its number', { keys: ['k1', 'k2'] }, [part(1, { number: ELSEWHERE }), part(2)], 2],
    [
      'none of two forms that are equally likely',
      { keys: ['k1', 'k2'], equalKeys: 2 },
      [part(1), part(2)],
      'ambiguous',
    ],
    [
      'the form with its number, of equally likely ones',
      { keys: ['k1', 'k2'], equalKeys: 2 },
      [part(1, { number: ELSEWHERE }), part(2)],
      2,
    ],
    [
      'the sure form before equally likely ones',
      { keys: ['k3', 'k1', 'k2'], equalKeys: 2 },
      [part(1), part(2), part(3)],
      3,
    ],
    ['none by one of several forms while an answer is outstanding', FORMS, [part(1), ON_ITS_WAY], 'ambiguous'],
    ['none while a late answer may arrive', FORMS, [part(1), part(2, IN_DOUBT)], 'ambiguous'],
    [
      'the part that one form names when no answer can arrive',
      { ...FORMS, waitedMs: WAIT_MS },
      [part(1), part(2, IN_DOUBT)],
      1,
    ],
    [
      'the part that one form names, whatever is in flight to another number',
      FORMS,
      [part(1), { ...ON_ITS_WAY, number: ELSEWHERE }],
      1,
    ],
    [
      'the part that one form names, whatever was sent later',
      FORMS,
      [part(1), { ...ON_ITS_WAY, submittedAt: SENT + 5_001 }],
      1,
    ],
    ['the one with its id, whatever is in flight', {}, [part(1), ON_ITS_WAY], 1],
    [
      'the one with its reference, whatever is in flight',
      { ...FORMS, reference: { value: 1, bits: 16 } },
      [part(1), ON_ITS_WAY],
      1,
    ],
    [
      'the part in doubt with its reference, at once',
      { ...UNKNOWN_ID, reference: { value: 1, bits: 16 } },
      [part(1, IN_DOUBT), part(2, IN_DOUBT)],
      1,
    ],
    [
      'the part in doubt with its reference, whatever else is in flight',
      { ...UNKNOWN_ID, reference: { value: 1, bits: 16 } },
      [part(1, IN_DOUBT), part(2, { state: 'submitting', key: undefined })],
      1,
    ],
    ['no part in doubt while an answer may bring its id', UNKNOWN_ID, [part(1, IN_DOUBT)], 'unknown'],
    ['the only part in doubt when no answer can bring it', { ...UNKNOWN_ID, ...WAITED }, [part(1, IN_DOUBT)], 1],
    [
      'the only part that was accepted without an id, when no answer can bring it',
      { ...UNKNOWN_ID, ...WAITED },
      [part(1, { key: undefined })],
      1,
    ],
    [
      'no part in doubt while another part is in flight',
      { ...UNKNOWN_ID, ...WAITED },
      [part(1, IN_DOUBT), part(2, { state: 'submitting', key: undefined })],
      'ambiguous',
    ],
    ['none of two in doubt', { ...UNKNOWN_ID, ...WAITED }, [part(1, IN_DOUBT), part(2, IN_DOUBT)], 'ambiguous'],
    [
      'no part in doubt that was sent after it',
      { ...UNKNOWN_ID, ...WAITED },
      [part(1, { ...IN_DOUBT, submittedAt: SENT + 2 })],
      'unknown',
    ],
    [
      'no part in doubt to another number',
      { ...UNKNOWN_ID, ...WAITED },
      [part(1, { ...IN_DOUBT, number: ELSEWHERE })],
      'unknown',
    ],
    ['no part that has another id', { ...UNKNOWN_ID, ...WAITED }, [part(1)], 'unknown'],
    [
      'a part in doubt though its id is one of another number',
      WAITED,
      [part(1, { number: ELSEWHERE }), part(2, IN_DOUBT)],
      2,
    ],
    [
      'no part in doubt if it names no number',
      { ...UNKNOWN_ID, ...WAITED, number: undefined },
      [part(1, IN_DOUBT)],
      'unknown',
    ],
    [
      'the only outstanding part, at once, if it has no id',
      { keys: [] },
      [part(1), part(2, { state: 'delivered' })],
      1,
    ],
    ['none of two outstanding parts, if it has no id', { keys: [] }, [part(1), part(2, IN_DOUBT)], 'ambiguous'],
    [
      'none while another part is in flight, if it has no id',
      { keys: [] },
      [part(1), part(2, { state: 'submitting', key: undefined })],
      'ambiguous',
    ],
    [
      'the part with its reference, if it has no id',
      { keys: [], reference: { value: 2, bits: 16 } },
      [part(1), part(2)],
      2,
    ],
    ['nothing if nothing is outstanding and it has no id', { keys: [] }, [part(1, { state: 'failed' })], 'unknown'],
  ];
  for (const [name, { waitedMs = 0, ...changed }, candidates, expected] of ROWS)
    test(`a receipt is matched with ${name}`, () => {
      const receipt = clues(changed);
      const time = { now: receipt.receivedAt + waitedMs, answersAfterMs: WAIT_MS };
      const match = matchReceipt(receipt, candidates, time);
      assert.equal(match.kind === 'part' ? match.partId : match.reason, expected);
      assert.deepEqual(matchReceipt(receipt, candidates.toReversed(), time), match, 'their order does not matter');
    });
});

test('a matched part contradicts nothing, and is the only one that could be meant', () => {
  const pick = pickerOf(1);
  for (let n = 0; n < 20_000; n += 1) {
    const receipt = randomClues(pick);
    const candidates = Array.from({ length: pick(5) }, (_, id) => randomPart(id + 1, pick));
    const time = { now: receipt.receivedAt + pick(3) * WAIT_MS, answersAfterMs: WAIT_MS };
    checkMatch(receipt, candidates, matchReceipt(receipt, candidates, time));
  }
});

type Pick = (count: number) => number;

/** Mulberry32: the same numbers each time. */
function pickerOf(seed: number): Pick {
  let state = seed;
  return (count) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  };
}

function randomClues(pick: Pick): ReceiptClues {
  const keys = ['k1', 'k2', 'k3'].slice(0, pick(4));
  return {
    keys,
    equalKeys: pick(2) * keys.length,
    number: [HERE, ELSEWHERE, undefined][pick(3)],
    reference: pick(2) === 0 ? undefined : { value: 1 + pick(4), bits: 16 },
    doneAt: pick(2) === 0 ? undefined : SENT + pick(3) * 60_000,
    receivedAt: SENT + pick(3) * 60_000,
  };
}

function randomPart(partId: number, pick: Pick): Candidate {
  const state = PART_STATES[pick(PART_STATES.length)] ?? 'submitted';
  return {
    partId,
    key: ['k1', 'k2', 'k3', undefined][pick(4)],
    number: pick(2) === 0 ? HERE : ELSEWHERE,
    submittedAt: SENT + pick(4) * 60_000,
    state,
  };
}

function checkMatch(receipt: ReceiptClues, candidates: readonly Candidate[], match: Match): void {
  if (match.kind !== 'part') return;
  const { reference, number, keys } = receipt;
  const chosen = candidates.find(({ partId }) => partId === match.partId);
  assert.ok(chosen !== undefined);
  const context = JSON.stringify({ receipt, candidates, match });
  const isFit = (it: Candidate) =>
    (reference === undefined || it.partId === reference.value) && (number === undefined || it.number === number);
  assert.ok(isFit(chosen), context);
  assert.ok(chosen.submittedAt <= receipt.receivedAt + 60_000, context);
  const isNamed = (it: Candidate) => it.key !== undefined && keys.includes(it.key);
  // By its id, or by the number alone where no id says otherwise.
  if (isNamed(chosen)) return;
  assert.ok(keys.length === 0 || chosen.key === undefined, context);
  assert.ok(
    chosen.number === number &&
      !candidates.some((it) => isNamed(it) && isFit(it) && it.submittedAt <= receipt.receivedAt + 60_000),
    context,
  );
  const isOther = (it: Candidate) => it !== chosen && isFit(it) && it.submittedAt <= receipt.receivedAt;
  const couldBe = (it: Candidate) =>
    (it.state === 'uncertain' || it.state === 'submitted') && (keys.length === 0 || it.key === undefined);
  assert.ok(!candidates.some((it) => isOther(it) && couldBe(it)), context);
}
