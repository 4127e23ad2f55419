/** Finds substrings that a text must contain for an expression to match, as far as the expression's syntax shows. */
import { RE2JS } from 're2js';

/** The prefilter of `re2js`: substrings that it searches for before it runs an expression. */
interface Prefilter {
  /** One of `KINDS`. */
  readonly type: number;
  /** Text of an `exact` piece. */
  readonly str: string;
  readonly subs: readonly Prefilter[];
}

const KINDS = { exact: 1, all: 2, any: 3 } as const;
/** Limit of pieces: of more, nearly every text would contain one. */
const MAX_PIECES = 20;

/**
 * Returns pieces of which every matching text contains at least one; empty if none is known. `expression` must be
 * valid.
 */
export function requiredPieces(expression: string): readonly string[] {
  const prefilter: Prefilter | null = RE2JS.compile(expression).re2().prefilter;
  const pieces = prefilter === null ? [] : piecesOf(prefilter);
  return pieces.length > MAX_PIECES ? [] : pieces;
}

function piecesOf({ type, str, subs }: Prefilter): readonly string[] {
  if (type === KINDS.exact) return [str];
  const parts = subs.map(piecesOf);
  if (type === KINDS.any) return parts.includes(NONE) ? NONE : parts.flat();
  // Of the required alternatives, take the one with the longest shortest piece; of equals the last, since URLs often
  // begin alike.
  return type === KINDS.all
    ? parts.reduce((best, next) => (shortest(next) >= shortest(best) ? next : best), NONE)
    : NONE;
}

const NONE: readonly string[] = [];

function shortest(pieces: readonly string[]): number {
  return pieces.length === 0 ? 0 : Math.min(...pieces.map(({ length }) => length));
}
