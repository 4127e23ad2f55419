import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cancellation, CancellationSource } from './cancellation.ts';

/** Sources that must behave alike. */
const SOURCES: readonly (readonly [string, () => { readonly token: Cancellation; abort(): void }])[] = [
  [
    'our own',
    () => {
      const source = new CancellationSource();
      return { token: source, abort: () => source.abort() };
    },
  ],
  [
    "the platform's",
    () => {
      const controller = new AbortController();
      return { token: controller.signal, abort: () => controller.abort() };
    },
  ],
];

for (const [what, open] of SOURCES) {
  test(`a cancellation of ${what} calls each listener once, in order, less those taken off meanwhile`, () => {
    const { token, abort } = open();
    const calls: string[] = [];
    const second = () => void calls.push('second');
    const third = () => void calls.push('third');
    const first = () => {
      calls.push(`first, aborted: ${token.aborted}`);
      token.removeEventListener('abort', third);
    };
    const never = () => void calls.push('never');
    for (const listener of [first, second, third, never, second]) {
      token.addEventListener('abort', listener, { once: true });
    }
    token.removeEventListener('abort', never);
    assert.equal(token.aborted, false);
    abort();
    token.addEventListener('abort', never, { once: true });
    abort();
    assert.deepEqual(calls, ['first, aborted: true', 'second']);
  });
}
