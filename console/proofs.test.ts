import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProofs } from './proofs.ts';

test('calls that wait together get one answer, and later ones are asked anew', async () => {
  const proofs = createProofs();
  const both = Promise.all([proofs.ask(), proofs.ask()]);
  assert.equal(proofs.isWanted.get(), true);
  proofs.settle(true);
  assert.deepEqual(await both, [true, true]);
  assert.equal(proofs.isWanted.get(), false);
  const later = proofs.ask();
  proofs.settle(false);
  assert.equal(await later, false);
});
