import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlAddress, hasOwnAuthority } from './enrolment.ts';

const ROWS = [
  ['off', '', undefined],
  ['127.0.0.1:8710', '', 'https://127.0.0.1:8710'],
  ['[::]:8710', '', 'https://console.example:8710'],
  ['0.0.0.0:8710', '', 'https://console.example:8710'],
  ['[2001:db8::1]:8710', '', 'https://[2001:db8::1]:8710'],
  ['[::]:8710', 'https://c1.example:8710, https://c2.example:8710', 'https://c1.example:8710'],
] as const;

test('machines are sent to the address that control announces, or to that of its listener', () => {
  for (const [listen, address, expected] of ROWS) {
    const settings = [
      { name: 'fleet-listen', value: listen, state: 'shown', source: 'default' },
      { name: 'fleet-address', value: address, state: address === '' ? 'unset' : 'shown', source: 'default' },
    ] as const;
    assert.equal(controlAddress([...settings], 'console.example'), expected, listen);
  }
});

test('edges need no token where they have certificates of the operator', () => {
  const row = { name: 'fleet-ca', source: 'default' } as const;
  assert.equal(hasOwnAuthority([{ ...row, value: '/etc/causeway/ca.pem', state: 'shown' }]), true);
  assert.equal(hasOwnAuthority([{ ...row, value: '', state: 'unset' }]), false);
  assert.equal(hasOwnAuthority([]), false);
});
