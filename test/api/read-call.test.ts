/** The reader of calls and node:http are given the same bytes: what ours takes, the other understands in the same way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ReadCall, readCall } from '#api/http/bare/read-call.ts';
import { ROUTES } from '#contract/routes.ts';
import { joinedValue } from '#http/headers.ts';
import { anyField, anyMutation, mutate } from '../support/edge/heads.ts';
import { NodeReader } from '../support/edge/node-requests.ts';

const PATHS = [
  '/api/sms/ordinary',
  '/domain/addDomain',
  '/domain/addDomain',
  '/nothing',
  '/domain/addDomain?a',
  'http://b/domain/addDomain',
];
const OWN_FIELDS = ['Host: a', 'Content-Type: application/json', 'Accept-Language: en', 'X-Forwarded-For: 192.0.2.1'];
const BODIES = ['{}', '{"a":1}', 'POST /domain/addDomain HTTP/1.1\r\nHost: b\r\n\r\n', '0\r\n\r\n', '\xff'];

const call = fc
  .tuple(
    fc.constantFrom(...PATHS),
    fc.array(anyField, { maxLength: 3 }),
    fc.constantFrom(...BODIES),
    fc.nat(9),
    fc.constantFrom(0, 0, 0, 0, 0, 0, 1, -1),
  )
  .map(([path, odd, body, at, wrong]) => {
    const fields = [...OWN_FIELDS, `Content-Length: ${body.length + wrong}`].toSpliced(at, 0, ...odd);
    return `${[`POST ${path} HTTP/1.1`, ...fields].join('\r\n')}\r\n\r\n${body}`;
  });
const anyCalls = fc
  .tuple(fc.array(call, { minLength: 1, maxLength: 3 }), fc.array(anyMutation, { maxLength: 2 }))
  .map(([calls, mutations]) => Buffer.from(mutations.reduce(mutate, calls.join('')), 'latin1'));

test('a call that the call reader accepts is understood by node:http in the same way', async () => {
  const node = new NodeReader({ maxHeaderSize: 16 * 1024 });
  const seen = { calls: 0, lasts: 0, others: 0, errors: 0 };
  const property = fc.asyncProperty(anyCalls, async (bytes) => {
    const { requests, bodies, error } = await node.read(bytes);
    const calls = readAll(bytes);
    for (const [n, { call, body }] of calls.entries()) {
      const request = requests[n];
      assert.deepEqual(
        [request?.method, request?.target?.replace('http://b/', '/'), request?.isLast],
        ['POST', ROUTES[call.name].path, call.isLast],
      );
      const { headers = [] } = request ?? {};
      assert.equal(bodies[n], body);
      assert.equal(headers.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length, 1);
      assert.equal(joinedValue(headers, 'accept-language'), call.acceptLanguage);
      assert.equal(joinedValue(headers, 'x-forwarded-for'), call.forwardedFor);
      for (const name of ['transfer-encoding', 'content-encoding', 'expect', 'upgrade'])
        assert.equal(joinedValue(headers, name), undefined);
      if (call.isLast) seen.lasts++;
    }
    seen.calls += calls.length;
    if (calls.length < requests.length) seen.others++;
    if (error !== undefined) seen.errors++;
  });
  await fc.assert(property, { numRuns: 6_000, seed: 1 });
  assert.ok(seen.calls > 1_500 && seen.lasts > 20 && seen.others > 300 && seen.errors > 1_000, JSON.stringify(seen));
});

/** Up to the first that it does not take, or the last of its connection. */
function readAll(bytes: Buffer): { readonly call: ReadCall; readonly body: string }[] {
  const calls: { readonly call: ReadCall; readonly body: string }[] = [];
  for (let rest = bytes; ; ) {
    const call = readCall(rest);
    if (typeof call === 'string') return calls;
    calls.push({ call, body: rest.toString('latin1', call.bodyStart, call.end) });
    if (call.isLast) return calls;
    rest = rest.subarray(call.end);
  }
}
