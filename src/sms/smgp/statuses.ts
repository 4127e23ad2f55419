/** Classifies the statuses of submits and describes refused logins. Pure. docs/decisions/0756 */
import type { RefusalClass } from '../carrier.ts';
import { each, type GatewayRefusal, type ResultClasses, resultRefusal } from '../gateways/refusal.ts';

export const SMGP_STATUS = { busy: 1, wrongLength: 36, wrongSender: 46, wrongNumber: 47 } as const;

const STANDARD: ResultClasses = {
  // 74, 75: nothing in this hour, or on this day; the connector pauses, and parts keep their places.
  ...each('throttled', [SMGP_STATUS.busy, 74, 75]),
  // 12: the sequence is repeated; the next try has another. 39, 58: no route.
  ...each('transient', [12, 39, 58]),
  ...each('permanent', [30, 31, 32, 33, 34, 35, SMGP_STATUS.wrongLength, 37, 44, 45, SMGP_STATUS.wrongNumber, 48]),
  ...each('misconfigured', [10, 11, 20, 21, 22, 40, 43, SMGP_STATUS.wrongSender, 69, 73, 76]),
};

export function smgpRefusal(status: number, own: Readonly<Record<string, RefusalClass>>): GatewayRefusal {
  return resultRefusal('smgp', status, { own, standard: STANDARD });
}

const LOGIN_WORDS: Readonly<Record<number, string>> = {
  1: 'the gateway is busy',
  2: 'too many connections',
  10: 'the structure of the message is wrong',
  20: 'our address is not allowed',
  21: 'wrong account or password, or clocks that differ',
  22: 'the version is too high',
};
/** Gateways lock accounts that try again too often. */
const LASTING: readonly number[] = [2, 20, 21, 22];

export function smgpLoginRefusal(status: number): { readonly word: string; readonly isLasting: boolean } {
  return { word: LOGIN_WORDS[status] ?? 'the carrier does not say why', isLasting: LASTING.includes(status) };
}
