import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAddresses } from './addresses.ts';

test('a pasted list is read with its comments, commas and repetitions', () => {
  const text = '# office\r\n192.0.2.1，192.0.2.0/24\n\n2001:db8::/32 # branch\n192.0.2.1\n';
  assert.deepEqual(readAddresses(text), [
    { line: 2, text: '192.0.2.1', isAddress: true },
    { line: 2, text: '192.0.2.0/24', isAddress: true },
    { line: 4, text: '2001:db8::/32', isAddress: true },
  ]);
  assert.deepEqual(readAddresses(' \n#'), []);
});

test('an entry that is no address is named with its line', () => {
  const wrong = readAddresses('10.0.0.0/8\nexample.com\n10.0.0.256, 10.0.0.0/33\n::1/129')
    .filter(({ isAddress }) => !isAddress)
    .map(({ line, text }) => `${line} ${text}`);
  assert.deepEqual(wrong, ['2 example.com', '3 10.0.0.256', '3 10.0.0.0/33', '4 ::1/129']);
});
