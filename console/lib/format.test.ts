import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatAgo,
  formatBitRate,
  formatBytes,
  formatClock,
  formatRatio,
  formatSeconds,
  formatShort,
  formatTime,
} from './format.ts';

test('bytes are decimal, with at most three digits', () => {
  const rows: readonly (readonly [bytes: number, shown: string])[] = [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1 kB'],
    [56_320, '56.3 kB'],
    [999_999, '1,000 kB'],
    [4_512_345, '4.5 MB'],
    [123_456_789_000, '123 GB'],
    [9e18, '9,000 PB'],
  ];
  for (const [bytes, shown] of rows) assert.equal(formatBytes(bytes, 'en'), shown);
});

test('a rate of bits has the units of bytes', () => {
  assert.deepEqual(
    [0, 999, 12_345_678].map((bits) => formatBitRate(bits, 'en')),
    ['0 bit/s', '999 bit/s', '12.3 Mbit/s'],
  );
});

test('a hit ratio below one is never shown as 100 %', () => {
  assert.deepEqual(
    [0, 0.8051, 0.99999, 1].map((ratio) => formatRatio(ratio, 'en')),
    ['0%', '80.5%', '99.9%', '100%'],
  );
});

test('an instant is shown in the given zone, on both sides of a change of the clock', () => {
  const at = Date.UTC(2026, 9, 25, 0, 30);
  assert.equal(formatTime(at, { locale: 'en', zone: 'Asia/Shanghai' }), '2026-10-25 08:30:00');
  assert.equal(formatTime(at, { locale: 'zh-CN', zone: 'Europe/Berlin' }), '2026-10-25 02:30:00');
  assert.equal(formatClock(at + 3_600_000, { locale: 'en', zone: 'Europe/Berlin' }), '02:30:00');
});

test('an age is relative below an hour, and never for an instant to come', () => {
  assert.equal(formatAgo(1000, 4000, 'en'), '3 sec. ago');
  assert.equal(formatAgo(0, 59 * 60_000, 'zh-CN'), '59分钟前');
  assert.equal(formatAgo(0, 3_600_000, 'en'), undefined);
  assert.equal(formatAgo(5000, 4000, 'en'), undefined);
});

test('a duration is shown in its largest whole unit', () => {
  assert.deepEqual(
    [0, 90, 3600, 86_400, 172_800].map((seconds) => formatSeconds(seconds, 'en')),
    ['0 seconds', '90 seconds', '1 hour', '1 day', '2 days'],
  );
});

test('large counts are shown with three digits', () => {
  assert.deepEqual(
    [7, 9999, 12_345, 1_234_567].map((count) => formatShort(count, 'en')),
    ['7', '9,999', '12.3K', '1.23M'],
  );
  assert.equal(formatShort(12_345, 'zh-CN'), '1.23万');
});
