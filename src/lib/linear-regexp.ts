/**
 * Customers' regular expressions, in a syntax that runs in time linear in the text: RE2's, so without look-around and back
 * references. docs/decisions/0004
 */
import { RE2JS } from 're2js';

export interface Pattern {
  readonly kind: 'pattern';
  /** Whether it matches somewhere in the text. */
  readonly test: (text: string) => boolean;
}

/** `reason` completes the sentence "the pattern …". */
export type CompiledPattern = Pattern | { readonly kind: 'invalid'; readonly reason: string };

const MAX_CHARS = 512;
/** Instructions of the compiled program; a step of the text costs at most so many. */
const MAX_PROGRAM = 500;
/** What was wrong is shown, cut short. */
const MAX_DETAIL_CHARS = 120;

export function compilePattern(text: string): CompiledPattern {
  if (text === '') return invalid('is empty');
  if (text.length > MAX_CHARS) return invalid(`is longer than ${MAX_CHARS} characters`);
  if (/\(\?<?[=!]/.test(text)) return invalid('looks around, which does not run in linear time');
  try {
    const program = RE2JS.compile(text);
    if (program.programSize() > MAX_PROGRAM)
      return invalid('repeats too much: its repetitions written out are too long');
    return { kind: 'pattern', test: (target) => program.test(target) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return invalid(`cannot be used: ${detail.slice(0, MAX_DETAIL_CHARS)}`);
  }
}

function invalid(reason: string): CompiledPattern {
  return { kind: 'invalid', reason };
}
