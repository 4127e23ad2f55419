/**
 * Customers' regular expressions, in RE2's syntax, which matches in time linear in the text: no look-around, no
 * back-references. `re2js` compiles them, and they run as a prebuilt automaton. docs/decisions/0004 and 0110
 */
import { RE2Set } from 're2js';
import { type Automaton, buildAutomaton } from './automaton.ts';
import type { Program } from './automaton-program.ts';
import { requiredPieces } from './required-pieces.ts';

export interface Pattern {
  readonly kind: 'pattern';
  /** A matching text contains at least one of these; empty if none is known. */
  readonly pieces: readonly string[];
}

/** `reason` completes the sentence "the pattern …". */
export interface InvalidPattern {
  readonly kind: 'invalid';
  readonly reason: string;
}

export interface CompiledPattern extends Pattern {
  /** Input of `runAutomaton`, which decides whether the pattern matches anywhere in a text of bytes. */
  readonly automaton: Automaton;
}

const MAX_CHARS = 512;
/** Limit of instructions in the compiled program. */
const MAX_PROGRAM = 1000;
/** Limit of the error's detail that is shown. */
const MAX_DETAIL_CHARS = 120;

/** Checks a pattern without compiling it: `compilePattern` may still refuse it for the size of its automaton. */
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

/** Returns the program of `re2js` for a valid pattern. `automaton-check.ts` verifies its form. */
export function compileProgram(text: string): Program {
  const set = new RE2Set();
  set.add(text);
  set.compile();
  return set.prog;
}

function invalid(reason: string): InvalidPattern {
  return { kind: 'invalid', reason };
}
