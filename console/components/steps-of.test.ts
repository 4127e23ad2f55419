import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepsOf } from './steps-of.ts';

test('a course is drawn as steps between the edges of its box', () => {
  assert.equal(stepsOf([0, 10, 5], 30, 22), 'M0 21H10V1H20V11H30');
});

test('a course of zeros is the lower edge, and none is nothing', () => {
  assert.equal(stepsOf([0, 0], 10, 22), 'M0 21H5V21H10');
  assert.equal(stepsOf([], 10, 22), '');
});
