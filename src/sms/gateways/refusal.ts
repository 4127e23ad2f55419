/** Classifies the results of submits. Pure. docs/decisions/0756 */
import type { RefusalClass, SubmitOutcome } from '../carrier.ts';

export type GatewayRefusal = Extract<SubmitOutcome, { kind: 'refused' }>;

/** Result → class, by a protocol's standard. */
export type ResultClasses = Readonly<Record<number, RefusalClass>>;

/** The same class for several results. */
export function each(refusalClass: RefusalClass, results: readonly number[]): ResultClasses {
  return Object.fromEntries(results.map((result) => [result, refusalClass]));
}

/**
 * `own`: the connector's table by result, before the standard's. Unknown results are permanent: another try would be
 * refused like the first.
 */
export function resultRefusal(
  protocol: 'cmpp' | 'smgp' | 'sgip',
  result: number,
  { own, standard }: { readonly own: Readonly<Record<string, RefusalClass>>; readonly standard: ResultClasses },
): GatewayRefusal {
  return { kind: 'refused', status: `${protocol}:${result}`, class: own[result] ?? standard[result] ?? 'permanent' };
}
