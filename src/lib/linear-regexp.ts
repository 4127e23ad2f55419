/**
 * Customers' regular expressions, in a syntax that runs in time linear in the text: RE2's, so without look-around and back
 * references. What `re2js` compiles runs as an automaton made beforehand. docs/decisions/0004 and 0110
 */
import { RE2Set } from 're2js';
import { type Automaton, buildAutomaton } from './automaton.ts';
import { requiredPieces } from './required-pieces.ts';

export interface Pattern {
  readonly kind: 'pattern';
  /** Says by `runAutomaton` whether it matches somewhere in a text of which each character is a byte. */
  readonly automaton: Automaton;
  /** A text that it matches has one of these in it. Empty: none is known. */
  readonly pieces: readonly string[];
  readonly sizeBytes: number;
}

/** `reason` completes the sentence "the pattern …". */
export type CompiledPattern = Pattern | { readonly kind: 'invalid'; readonly reason: string };

const MAX_CHARS = 512;
/** Instructions of the compiled program. */
const MAX_PROGRAM = 1000;
/** What was wrong is shown, cut short. */
const MAX_DETAIL_CHARS = 120;

export function compilePattern(text: string): CompiledPattern {
  if (text === '') return invalid('is empty');
  if (text.length > MAX_CHARS) return invalid(`is longer than ${MAX_CHARS} characters`);
  if (/\(\?<?[=!]/.test(text)) return invalid('looks around, which does not run in linear time');
  try {
    const set = new RE2Set();
    set.add(text);
    set.compile();
    if (set.prog.numInst() > MAX_PROGRAM) return invalid('repeats too much: its repetitions written out are too long');
    const automaton = buildAutomaton(set.prog);
    if (automaton === undefined)
      return invalid(
        'has too many ways to match: begin it with ^, or count fewer repetitions of what can begin anew within them',
      );
    return { kind: 'pattern', automaton, pieces: requiredPieces(text), sizeBytes: automaton.length * 2 };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return invalid(`cannot be used: ${detail.slice(0, MAX_DETAIL_CHARS)}`);
  }
}

function invalid(reason: string): CompiledPattern {
  return { kind: 'invalid', reason };
}
