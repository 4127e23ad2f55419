/**
 * The complete DFA of a compiled expression, built in advance: each character of a text then costs one table look-up,
 * whatever the expression. Expressions whose table would be too large have none. docs/decisions/0110
 */
import { type Alphabet, CHARACTERS, classifyCharacters } from './automaton-alphabet.ts';
import { KINDS, type Program, takesCharacter, whatHolds } from './automaton-program.ts';
import { packUnits } from './packed.ts';

/**
 * The table, packed in a string. It has the classes of the characters, two per unit; at `START` the offset of the first
 * state's row; then the rows. A row says whether a text that ends there matches, and has the offset of the next row for
 * each class.
 */
export type Automaton = string;

/** Limit of table entries, states times classes: bounds its memory. */
const MAX_CELLS = 16_384;
/** Limit of instructions visited while building: bounds the time. */
const MAX_STEPS = 100_000;

/** A set of NFA positions. The start is always implied, since a match may begin anywhere. */
interface State {
  /** Instructions that wait for a character, or for an assertion that depends on the next one. */
  readonly places: readonly number[];
  /** Representative of the last character for assertions; `undefined` at the beginning. */
  readonly before: number | undefined;
}

/** Number of the state in which a match was found. */
const FOUND = 0;
const START = CHARACTERS / 2;
/** Offset of the row of `FOUND`, which is the first. */
const FOUND_ROW = START + 1;

/** Whether the expression matches anywhere in a text whose characters are bytes. */
export function runAutomaton(automaton: Automaton, text: string): boolean {
  let row = automaton.charCodeAt(START);
  for (let i = 0; i < text.length && row !== FOUND_ROW; i++) {
    // Characters beyond a byte count as the last one.
    const code = Math.min(text.charCodeAt(i), CHARACTERS - 1);
    const charClass = (automaton.charCodeAt(code >> 1) >> ((code & 1) * 8)) & 0xff;
    row = automaton.charCodeAt(row + 1 + charClass);
  }
  return automaton.charCodeAt(row) === 1;
}

/** Builds the automaton; `undefined` if it would be too large. */
export function buildAutomaton(program: Program): Automaton | undefined {
  const alphabet = classifyCharacters(program);
  const { examples, takenBy, seenAs, groupsAfter } = alphabet;
  const walk = createWalk(program);
  const states: State[] = [];
  const numbers = new Map<string, number>();
  const enter = (from: readonly number[], before: number | undefined): number => {
    const { places, isMatch } = walk.follow(from, 0);
    if (isMatch) return FOUND;
    const key = `${before} ${places.join()}`;
    const number = numbers.get(key) ?? states.push({ places, before });
    numbers.set(key, number);
    return number;
  };

  const first = enter([], undefined);
  const rows: number[][] = [];
  const endsFound: boolean[] = [];
  for (const { places, before } of states) {
    if (states.length * examples.length > MAX_CELLS || walk.steps() > MAX_STEPS) return undefined;
    const row = Array<number>(examples.length).fill(FOUND);
    for (const [holding, classes] of groupsAfter(before)) {
      const ready = walk.follow([...places, program.start], holding);
      if (ready.isMatch) continue;
      const outs = walk.take(ready.places, takenBy);
      for (const index of classes) row[index] = enter(outs.get(index) ?? [], seenAs(examples[index] ?? 0));
    }
    rows.push(row);
    endsFound.push(walk.follow([...places, program.start], whatHolds(before, undefined)).isMatch);
  }
  return pack(alphabet, first, rows, endsFound);
}

interface Reached {
  /** Instructions in ascending order, without duplicates. */
  readonly places: readonly number[];
  readonly isMatch: boolean;
}

/** Simulates a program from several positions at once. */
function createWalk(program: Program) {
  const seen = new Uint32Array(program.numInst());
  let round = 0;
  let steps = 0;
  /** Follows instructions until one consumes a character. */
  const follow = (from: readonly number[], holding: number): Reached => {
    round++;
    const places: number[] = [];
    let isMatch = false;
    const open = [...from];
    for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
      steps++;
      if (seen[pc] === round) continue;
      seen[pc] = round;
      const instruction = program.getInst(pc);
      const { op, out, arg } = instruction;
      if (op === KINDS.match) isMatch = true;
      else if (op === KINDS.fork || op === KINDS.forkMatch) open.push(out, arg);
      else if (op === KINDS.nothing || op === KINDS.capture) open.push(out);
      else if (op === KINDS.assertion && (arg & ~holding) === 0) open.push(out);
      else if (op === KINDS.assertion || takesCharacter(instruction)) places.push(pc);
    }
    return { places: places.sort((a, b) => a - b), isMatch };
  };
  /** Returns the next positions for each class of characters; classes without any are absent. */
  const take = (places: readonly number[], takenBy: (pc: number) => readonly number[]): Map<number, number[]> => {
    const outs = new Map<number, number[]>();
    for (const pc of places) {
      const { out } = program.getInst(pc);
      for (const index of takenBy(pc)) {
        const known = outs.get(index);
        if (known === undefined) outs.set(index, [out]);
        else known.push(out);
      }
    }
    return outs;
  };
  return { follow, take, steps: () => steps };
}

function pack(
  { classOf, examples: { length: width } }: Alphabet,
  first: number,
  rows: readonly (readonly number[])[],
  endsFound: readonly boolean[],
): Automaton {
  const place = (number: number) => FOUND_ROW + number * (width + 1);
  const classes = Array.from(
    { length: START },
    (_, pair) => (classOf[pair * 2] ?? 0) | ((classOf[pair * 2 + 1] ?? 0) << 8),
  );
  // The row of `FOUND` is only read at the end of the text.
  const found = [1, ...Array<number>(width).fill(place(FOUND))];
  const others = rows.map((row, index) => [Number(endsFound[index] ?? false), ...row.map(place)]);
  // The last offset is at most FOUND_ROW + 2 * MAX_CELLS, so it fits one unit.
  return packUnits([...classes, place(first), ...found, ...others.flat()]);
}
