/** What must be in a text for an expression to match it, as far as that can be told from how the expression is written. */
import { RE2JS } from 're2js';

/** What `re2js` looks for in a text before it runs an expression on it. */
interface Prefilter {
  /** One of `KINDS`. */
  readonly type: number;
  /** Text of an `exact` piece. */
  readonly str: string;
  readonly subs: readonly Prefilter[];
}

const KINDS = { exact: 1, all: 2, any: 3 } as const;
/** More are no help: one of them would nearly always be there. */
const MAX_PIECES = 20;

/** `expression` compiles. A text that it matches has at least one of the pieces in it; empty: nothing is known. */
export function requiredPieces(expression: string): readonly string[] {
  const prefilter: Prefilter | null = RE2JS.compile(expression).re2().prefilter;
  const pieces = prefilter === null ? [] : piecesOf(prefilter);
  return pieces.length > MAX_PIECES ? [] : pieces;
}

function piecesOf({ type, str, subs }: Prefilter): readonly string[] {
  if (type === KINDS.exact) return [str];
  const parts = subs.map(piecesOf);
  if (type === KINDS.any) return parts.includes(NONE) ? NONE : parts.flat();
  // Of what all must be there, that of which the shortest piece is longest; of equals the last, since URLs begin alike.
  return type === KINDS.all
    ? parts.reduce((best, next) => (shortest(next) >= shortest(best) ? next : best), NONE)
    : NONE;
}

const NONE: readonly string[] = [];

function shortest(pieces: readonly string[]): number {
  return pieces.length === 0 ? 0 : Math.min(...pieces.map(({ length }) => length));
}
