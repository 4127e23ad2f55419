/** Divides the characters into classes that an expression cannot distinguish: characters of one class behave alike. */
import {
  HOLDS,
  type Instruction,
  isWordCharacter,
  KINDS,
  NEWLINE,
  type Program,
  takesCharacter,
  whatHolds,
} from './automaton-program.ts';

export interface Alphabet {
  /** Class of each character, 0 to 255. */
  readonly classOf: Uint8Array;
  /** One character of each class. */
  readonly examples: readonly number[];
  /** The classes that an instruction accepts. */
  readonly takenBy: (pc: number) => readonly number[];
  /** A representative of the characters that no assertion distinguishes from this one. */
  readonly seenAs: (code: number) => number;
  /**
   * Groups the classes of the next character by which assertions hold between it and `before` (`undefined`: the
   * beginning).
   */
  readonly groupsAfter: (before: number | undefined) => ReadonlyMap<number, readonly number[]>;
}

export const CHARACTERS = 256;
const WORD = 0x61;
const NO_WORD = 0x20;

export function classifyCharacters(program: Program): Alphabet {
  const tests = new Map<string, (code: number) => boolean>();
  const testOf: string[] = [];
  let asserted = 0;
  for (let pc = 0; pc < program.numInst(); pc++) {
    const instruction = program.getInst(pc);
    if (instruction.op === KINDS.assertion) asserted |= instruction.arg;
    if (!takesCharacter(instruction)) continue;
    const name = nameCharacters(instruction);
    testOf[pc] = name;
    tests.set(name, (code) => instruction.matchRune(code));
  }
  const seesLines = (asserted & (HOLDS.lineBegins | HOLDS.lineEnds)) !== 0;
  const seesWords = (asserted & (HOLDS.wordBoundary | HOLDS.noWordBoundary)) !== 0;
  const all = [...tests.values(), ...(seesLines ? [isNewline] : []), ...(seesWords ? [isWordCharacter] : [])];
  const { classOf, examples } = divide(all);
  const classes = [...examples.keys()];
  const taken = new Map(
    [...tests].map(([name, test]) => [name, classes.filter((index) => test(examples[index] ?? 0))]),
  );
  const takenBy = testOf.map((name) => taken.get(name) ?? []);
  const groupsAfter = new Map<number | undefined, ReadonlyMap<number, readonly number[]>>();
  return {
    classOf,
    examples,
    takenBy: (pc) => takenBy[pc] ?? [],
    seenAs: (code) => {
      if (seesLines && isNewline(code)) return NEWLINE;
      return seesWords && isWordCharacter(code) ? WORD : NO_WORD;
    },
    groupsAfter: (before) => {
      const known = groupsAfter.get(before);
      if (known !== undefined) return known;
      const groups = Map.groupBy(classes, (index) => whatHolds(before, examples[index]) & asserted);
      groupsAfter.set(before, groups);
      return groups;
    },
  };
}

/**
 * Returns a name that is equal for instructions that accept the same bytes: their ranges in order, cut off beyond the
 * bytes.
 */
function nameCharacters({ arg, runes }: Instruction): string {
  let name = `${arg}`;
  for (const rune of runes) {
    name += ` ${rune}`;
    if (rune >= CHARACTERS) break;
  }
  return name;
}

/** Divides the classes by each test into characters that pass and characters that do not. */
function divide(tests: readonly ((code: number) => boolean)[]): Pick<Alphabet, 'classOf' | 'examples'> {
  const classOf = new Uint8Array(CHARACTERS);
  let examples = [0];
  for (const test of tests) {
    const numbers = new Map<string, number>();
    const next: number[] = [];
    classOf.forEach((known, code) => {
      const part = `${known} ${test(code)}`;
      const number = numbers.get(part) ?? next.push(code) - 1;
      numbers.set(part, number);
      classOf[code] = number;
    });
    examples = next;
  }
  return { classOf, examples };
}

function isNewline(code: number): boolean {
  return code === NEWLINE;
}
