import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildAutomaton } from './automaton.ts';
import { checkAutomata } from './automaton-check.ts';
import { HOLDS, type Instruction, KINDS, type Program } from './automaton-program.ts';

describe('the check of compiled patterns', () => {
  test('the pinned version of re2js passes', () => checkAutomata());

  const UNKNOWN = 99;
  for (const [name, op] of Object.entries(KINDS)) {
    // `re2js` never emits it.
    if (name === 'forkMatch') continue;
    test(`another number for the instruction ${name} is detected`, () =>
      refuses((instruction) => (instruction.op === op ? { ...instruction, op: UNKNOWN } : instruction)));
  }
  for (const op of [8, 9, 10, 11])
    test(`another number for character instruction ${op} is detected`, () =>
      refuses((instruction) => (instruction.op === op ? { ...instruction, op: UNKNOWN } : instruction)));
  for (const [name, bit] of Object.entries(HOLDS))
    test(`another bit for the assertion ${name} is detected`, () =>
      refuses((instruction) =>
        instruction.op === KINDS.assertion && (instruction.arg & bit) !== 0
          ? { ...instruction, arg: (instruction.arg & ~bit) | 64 }
          : instruction,
      ));

  test('a program that cannot be read is detected', () => assert.throws(() => checkAutomata(() => undefined), /re2js/));
});

/** The check must refuse programs whose instructions are changed. */
function refuses(change: (instruction: Instruction) => Instruction): void {
  const changed = (program: Program): Program => ({
    start: program.start,
    numInst: () => program.numInst(),
    getInst: (pc) => {
      const real = program.getInst(pc);
      const { op, out, arg, runes } = real;
      return change({ op, out, arg, runes, matchRune: (code) => real.matchRune(code) });
    },
  });
  assert.throws(() => checkAutomata((program) => buildAutomaton(changed(program))), /this version of re2js/);
}
