/**
 * Customers' regular expressions, in a syntax that runs in time linear in the text: RE2's, so without look-around and back
 * references. What `re2js` compiles runs as an automaton made beforehand. docs/decisions/0004 and 0110
 */
import { RE2Set } from 're2js';
import { type Automaton, buildAutomaton } from './automaton.ts';
import type { Program } from './automaton-program.ts';
import { requiredPieces } from './required-pieces.ts';

export interface Pattern {
  readonly kind: 'pattern';
  /** A text that it matches has one of these in it. Empty: none is known. */
  readonly pieces: readonly string[];
}

/** `reason` completes the sentence "the pattern …". */
export interface InvalidPattern {
  readonly kind: 'invalid';
  readonly reason: string;
}

export interface CompiledPattern extends Pattern {
  /** Says by `runAutomaton` whether it matches somewhere in a text of which each character is a byte. */
  readonly automaton: Automaton;
}

const MAX_CHARS = 512;
/** Instructions of the compiled program. */
const MAX_PROGRAM = 1000;
/** What was wrong is shown, cut short. */
const MAX_DETAIL_CHARS = 120;

/** What can be said of a pattern without compiling it: it may still be refused for what its automaton would take. */
export function readPattern(text: string): Pattern | InvalidPattern {
  if (text === '') return invalid('is empty');
  if (text.length > MAX_CHARS) return invalid(`is longer than ${MAX_CHARS} characters`);
  if (/\(\?<?[=!]/.test(text)) return invalid('uses look-around, which does not run in linear time');
  try {
    return { kind: 'pattern', pieces: requiredPieces(text) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return invalid(`cannot be used: ${detail.slice(0, MAX_DETAIL_CHARS)}`);
  }
}

export function compilePattern(text: string): CompiledPattern | InvalidPattern {
  const pattern = readPattern(text);
  if (pattern.kind === 'invalid') return pattern;
  const program = compileProgram(text);
  if (program.numInst() > MAX_PROGRAM) return invalid('repeats too much: it is too long with its repetitions expanded');
  const automaton = buildAutomaton(program);
  if (automaton === undefined)
    return invalid(
      'has too many ways to match: begin it with ^, or lower the count of repetitions that can begin anew within themselves',
    );
  return { ...pattern, automaton };
}

/** The program of `re2js` for a pattern of its syntax. `automaton-check.ts` knows what it looks like. */
export function compileProgram(text: string): Program {
  const set = new RE2Set();
  set.add(text);
  set.compile();
  return set.prog;
}

function invalid(reason: string): InvalidPattern {
  return { kind: 'invalid', reason };
}
