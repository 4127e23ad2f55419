import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPasskeyPlace, passkeyProblemOf } from './passkey-rules.ts';

test('passkeys work at the address of the console alone', () => {
  assert.equal(isPasskeyPlace('http://localhost:8700', 'http://localhost:8700'), true);
  assert.equal(isPasskeyPlace('http://127.0.0.1:8700', 'http://localhost:8700'), false);
  assert.equal(isPasskeyPlace('https://console.example', 'https://console.example:443/'), true);
  assert.equal(isPasskeyPlace('http://localhost', ''), false);
});

test('what ends the question for a passkey is told apart', () => {
  const problemOf = (name: string) => passkeyProblemOf(new DOMException('', name));
  assert.deepEqual(['NotAllowedError', 'InvalidStateError', 'SecurityError'].map(problemOf), [
    'stopped',
    'present',
    'failed',
  ]);
  assert.equal(passkeyProblemOf(new Error('of the service')), undefined);
});
