/**
 * The entries of a list with the piece that each needs, packed: a request looks at few of them whole. It is a class because what
 * it holds is then one step through memory away; through closures and their contexts it was three. docs/decisions/0118
 */
import { type PackedTexts, packTexts, packUnits, textAt } from '#lib/packed.ts';
import type { Piece, Signature } from './signature.ts';

export interface SieveEntry {
  readonly piece: Piece;
  readonly text: string;
}

export class RuleFilter {
  /** A character for each entry. */
  readonly #pieces: string;
  readonly #texts: PackedTexts;

  constructor(entries: readonly SieveEntry[]) {
    this.#pieces = packUnits(entries.map(({ piece }) => piece));
    this.#texts = packTexts(entries.map(({ text }) => text));
  }

  /** The place of the first entry that matches; -1: none does. `matches` is asked about those whose piece the signature has. */
  find(signature: Signature, matches: (text: string, index: number) => boolean): number {
    let index = signature.indexIn(this.#pieces, 0);
    while (index !== -1 && !matches(textAt(this.#texts, index), index))
      index = signature.indexIn(this.#pieces, index + 1);
    return index;
  }
}
