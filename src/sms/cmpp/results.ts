/** Classifies the results of submits and describes refused logins. Pure. docs/decisions/0756 */
import type { RefusalClass } from '../carrier.ts';
import { each, type GatewayRefusal, type ResultClasses, resultRefusal } from '../gateways/refusal.ts';

export const CMPP_RESULT = { wrongLength: 4, busy: 8, wrongSender: 10, wrongNumber: 13 } as const;

const STANDARD: ResultClasses = {
  ...each('throttled', [CMPP_RESULT.busy]),
  // 3: the sequence is repeated; the next try has another.
  ...each('transient', [3]),
  ...each('permanent', [CMPP_RESULT.wrongLength, 6, 12, CMPP_RESULT.wrongNumber]),
  ...each('misconfigured', [1, 2, 5, 7, 9, CMPP_RESULT.wrongSender, 11]),
};

export function cmppRefusal(result: number, own: Readonly<Record<string, RefusalClass>>): GatewayRefusal {
  const standard = result < FIRST_OF_GATEWAYS ? STANDARD : each('transient', [result]);
  return resultRefusal('cmpp', result, { own, standard });
}

/** First result of the gateway's own, up to four octets in CMPP 3.0. */
const FIRST_OF_GATEWAYS = 100;

const LOGIN_WORDS: Readonly<Record<number, string>> = {
  1: 'the structure of the message is wrong',
  2: 'the account or our address is not allowed',
  3: 'wrong account or password, or clocks that differ',
  4: 'the version is too high',
};
/** Gateways lock accounts that try again too often. */
const LASTING: readonly number[] = [2, 3, 4];

export function cmppLoginRefusal(status: number): { readonly word: string; readonly isLasting: boolean } {
  return { word: LOGIN_WORDS[status] ?? 'the carrier does not say why', isLasting: LASTING.includes(status) };
}
