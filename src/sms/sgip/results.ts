/** Classifies the results of submits and describes refused binds. Pure. docs/decisions/0756 */
import type { RefusalClass } from '../carrier.ts';
import { each, type GatewayRefusal, type ResultClasses, resultRefusal } from '../gateways/refusal.ts';

export const SGIP_RESULT = {
  ok: 0,
  wrongLogin: 1,
  tooMany: 3,
  wrongForm: 5,
  wrongNumber: 6,
  wrongLength: 8,
  busy: 11,
} as const;

const STANDARD: ResultClasses = {
  // 33: the queue of the SMS centre is full. 88 is not in the document; gateways send it for too high a rate.
  ...each('throttled', [SGIP_RESULT.busy, 33, 88]),
  // 9: the sequence is repeated; the next try has another. 21 to 23: no route. 32: failure of the system.
  ...each('transient', [9, 21, 22, 23, 32]),
  ...each('permanent', [SGIP_RESULT.wrongForm, SGIP_RESULT.wrongNumber, SGIP_RESULT.wrongLength]),
  ...each('misconfigured', [SGIP_RESULT.wrongLogin, 2, 4, 7, 10, 24]),
};

export function sgipRefusal(result: number, own: Readonly<Record<string, RefusalClass>>): GatewayRefusal {
  return resultRefusal('sgip', result, { own, standard: STANDARD });
}

const BIND_WORDS: Readonly<Record<number, string>> = {
  [SGIP_RESULT.wrongLogin]: 'wrong account or password, or our address is not allowed',
  2: 'a session is bound already',
  [SGIP_RESULT.tooMany]: 'too many connections',
  4: 'wrong type of login',
};
/** Gateways lock accounts that try again too often. */
const LASTING: readonly number[] = [SGIP_RESULT.wrongLogin, 2, SGIP_RESULT.tooMany, 4];

export function bindRefusal(result: number): { readonly word: string; readonly isLasting: boolean } {
  return { word: BIND_WORDS[result] ?? 'the carrier does not say why', isLasting: LASTING.includes(result) };
}
