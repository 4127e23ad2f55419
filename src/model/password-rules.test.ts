import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weaknessOf } from './password-rules.ts';

const OWN = ['li.lei@example.com', 'Li Lei'];

const ROWS: readonly (readonly [string, 'short' | 'common' | undefined])[] = [
  ['', 'short'],
  ['aB3$xY9!kQ2', 'short'],
  ['😀😀😀😀😀😀', 'short'],
  ['password1234', 'common'],
  ['P@ssw0rd!2024', 'common'],
  ['qwertyuiop[]12', 'common'],
  ['qwertyuiop123456', 'common'],
  ['123456789012', 'common'],
  ['aaaaaaaaaaaaa', 'common'],
  ['abababababab', 'common'],
  ['iloveyou2020!!', 'common'],
  ['adminadmin12', 'common'],
  ['woaini520520', 'common'],
  ['welcome-causeway', 'common'],
  ['example.com lei 1', 'common'],
  ['correct horse battery staple', undefined],
  ['tr0ub4dor&3-river', undefined],
  ['hE7-vq2m-Zt9x', undefined],
  ['长安一片月万户捣衣声秋风', undefined],
];

test('passwords are refused that are short, or made of what guessers try first', () => {
  for (const [password, weakness] of ROWS) assert.equal(weaknessOf(password, OWN), weakness, password);
});
