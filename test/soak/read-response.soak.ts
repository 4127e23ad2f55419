import { describe, test } from 'node:test';
import { fuzzResponses } from '../support/edge/response-fuzz.ts';

describe('responses of origins, read by us and by node:http', { timeout: 900_000 }, () => {
  for (const seed of [2, 3, 4]) {
    test(`seed ${seed}`, async (t) => {
      t.diagnostic(JSON.stringify(await fuzzResponses(50_000, seed)));
    });
  }
});
