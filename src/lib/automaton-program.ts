/** The program of a compiled expression: instructions of a Thompson NFA, with the numbers that `re2js` uses. */

export interface Program {
  readonly start: number;
  numInst(): number;
  getInst(pc: number): Instruction;
}

export interface Instruction {
  /** One of `KINDS`. */
  readonly op: number;
  /** Index of the next instruction. */
  readonly out: number;
  /** The second branch of a fork; the condition of an assertion. */
  readonly arg: number;
  /** Characters that a character instruction accepts. */
  readonly runes: Iterable<number>;
  matchRune(code: number): boolean;
}

export const KINDS = { fork: 1, forkMatch: 2, capture: 3, assertion: 4, match: 6, nothing: 7 } as const;
const FIRST_CHARACTER_KIND = 8;
const LAST_CHARACTER_KIND = 11;

export function takesCharacter({ op }: Instruction): boolean {
  return op >= FIRST_CHARACTER_KIND && op <= LAST_CHARACTER_KIND;
}

/** Bits for the conditions that an assertion may require of a position in the text. */
export const HOLDS = {
  lineBegins: 1,
  lineEnds: 2,
  textBegins: 4,
  textEnds: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;

export const NEWLINE = 10;

/** Returns the conditions that hold between two characters; `undefined` is the beginning or end of the text. */
export function whatHolds(before: number | undefined, after: number | undefined): number {
  return (
    (before === undefined ? HOLDS.textBegins | HOLDS.lineBegins : 0) |
    (before === NEWLINE ? HOLDS.lineBegins : 0) |
    (after === undefined ? HOLDS.textEnds | HOLDS.lineEnds : 0) |
    (after === NEWLINE ? HOLDS.lineEnds : 0) |
    (isWordCharacter(before) === isWordCharacter(after) ? HOLDS.noWordBoundary : HOLDS.wordBoundary)
  );
}

export function isWordCharacter(code: number | undefined): boolean {
  return code !== undefined && /\w/.test(String.fromCharCode(code));
}
