/** Checks that `re2js` still compiles patterns to the undocumented program form that `automaton.ts` reads. */
import { buildAutomaton, runAutomaton } from './automaton.ts';
import { compileProgram } from './linear-regexp.ts';

/** Each kind of instruction, each assertion and each kind of character decides at least one row. */
const KNOWN: readonly (readonly [pattern: string, matching: string, other: string])[] = [
  ['^/(a|bc)*d$', '/abcad', '/abad'],
  ['ab+c?d{2}', 'xabbdd', 'xabbcd'],
  ['(?:a|ab)(?P<x>c|bcd)', 'abcd', 'abd'],
  ['^[0-9]+[^a-f/]$', '17g', '17f'],
  ['a.c', 'abc', 'a\nc'],
  ['(?s:a.c)', 'a\nc', 'ac'],
  ['(?i)kelvin', 'KeLvIn', 'celvin'],
  ['\\.(?:jpg|png)$', '/a.png', '/a.png/'],
  ['(?m:^b)', 'a\nb', 'ab'],
  ['(?m:a$)', 'a\nb', 'ab'],
  ['\\Ab', 'b', 'a\nb'],
  ['a\\z', 'a', 'a\nb'],
  ['\\bcat\\b', 'a cat.', 'concat'],
  ['\\Bcat\\B', 'locate', 'a cat.'],
  ['(|a)b(){3}$', 'b', 'bc'],
];

/**
 * Compiles and matches known patterns. Throws if a result is wrong: an update of `re2js` could otherwise silently
 * change which requests a customer's rules match. docs/decisions/0523
 */
export function checkAutomata(build = buildAutomaton): void {
  for (const [pattern, matching, other] of KNOWN) {
    const automaton = build(compileProgram(pattern));
    if (automaton === undefined || !runAutomaton(automaton, matching) || runAutomaton(automaton, other))
      throw new Error(
        `patterns cannot be matched: this version of re2js compiles ${pattern} in a way that is not known here`,
      );
  }
}
