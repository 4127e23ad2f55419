/** A million inputs, other ones each time. */
import { test } from 'node:test';
import { fuzzHeads } from '../support/edge/head-fuzz.ts';

test('a head that the reader of heads accepts is understood by node:http in the same way', async (t) => {
  for (let round = 0; round < 20; round++) {
    const seed = Math.floor(Math.random() * 0x7fff_ffff); // a failure names it
    t.diagnostic(JSON.stringify(await fuzzHeads(50_000, seed)));
  }
});
