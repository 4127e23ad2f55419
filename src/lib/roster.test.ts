import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Roster, type Seat } from './roster.ts';

test('a roster has the members that were added and not removed', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20), { nil: undefined })), (steps) => {
      const roster = new Roster<number>();
      const kept = new Map<number, Seat<number>>();
      const removed: Seat<number>[] = [];
      for (const [n, removesAt] of steps.entries()) {
        const seat = removesAt === undefined ? undefined : [...kept.values()][removesAt];
        if (seat === undefined) kept.set(n, roster.add(n));
        else {
          roster.remove(seat);
          kept.delete(seat.member);
          removed.push(seat);
        }
        for (const gone of removed) roster.remove(gone); // does nothing
        assert.deepEqual(roster.members().sort(), [...kept.keys()].sort());
        assert.equal(roster.size, kept.size);
      }
    }),
  );
});
