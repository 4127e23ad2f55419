import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOpenToRegistration } from './foreign-zone.ts';
import { defaultRoutingZone } from './zones.ts';

test('the default routing zone of a suffix that was registered as a whole is open to registration', () => {
  const rows = [
    ['mycdn.net', true],
    ['mycdn.com.cn', true],
    ['mycdn.github.io', true],
    ['cdn.example.net', false],
    ['cdn.localhost', false],
    ['cdn.internal', false],
    ['localhost', false],
  ] as const;
  for (const [suffix, isOpen] of rows) assert.equal(isOpenToRegistration(defaultRoutingZone(suffix)), isOpen, suffix);
});
