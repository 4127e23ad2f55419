import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAmount } from './format-amount.ts';

test('amounts have the decimals of their smallest unit, and no currency where none is named', () => {
  for (const [amount, currency, currency_units, expected] of [
    [1234, '', 1, '1,234'],
    [1234, 'CNY', 100, 'CN¥12.34'],
    [45, 'CNY', 1000, 'CN¥0.045'],
    [40, 'CNY', 1000, 'CN¥0.04'],
    [8, 'JPY', 1, '¥8'],
  ] as const)
    assert.equal(formatAmount(amount, { currency, currency_units }, 'en'), expected);
  assert.equal(formatAmount(1234, { currency: 'CNY', currency_units: 100 }, 'zh-CN'), '¥12.34');
});
