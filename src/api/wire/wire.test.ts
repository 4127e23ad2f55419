import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeRequest } from '#contract/decode.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ROUTE_NAMES } from '#contract/routes.ts';
import { READ } from './wire.ts';

/** Read by `dispatch.ts`, for every operation that has it. */
const CONDITION = 'if_revision';

describe('the readers of requests', () => {
  for (const name of ROUTE_NAMES) {
    test(`${name} reads each field that its contract has`, () => {
      const { request, sample } = OPERATIONS[name];
      const decoded = decodeRequest(request, sample.request);
      assert.ok(decoded.kind === 'request');
      const fields = Object.keys(request.fields);
      const read = new Set<PropertyKey>([CONDITION]);
      const spy = new Proxy(decoded.value, {
        get(target, field) {
          read.add(field);
          return Reflect.get(target, field);
        },
        // A copy of the request takes all that is there, and the sample may have only some.
        ownKeys(target) {
          for (const field of fields) read.add(field);
          return Reflect.ownKeys(target);
        },
      });
      const reader = READ[name] as (request: unknown) => unknown; // `spy` is a request of this operation
      reader(spy);
      assert.deepEqual(
        fields.filter((field) => !read.has(field)),
        [],
      );
    });
  }
});
