/** The range of feed versions in a header, and the choice between two ranges. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseVersion, formatVersions, parseVersions } from './versions.ts';

test('a header names one version or a range; anything else is refused', () => {
  const table = [
    [undefined, { oldest: 1, newest: 1 }],
    ['2', { oldest: 2, newest: 2 }],
    ['2-3', { oldest: 2, newest: 3 }],
    ['9999', { oldest: 9999, newest: 9999 }],
    ...['', '0', '3-2', '1-', '-1', '1-2-3', '1, 2', ' 1', '1.0', '10000', '1e1'].map((text) => [text, undefined]),
  ] as const;
  for (const [header, expected] of table) assert.deepEqual(parseVersions(header), expected, String(header));
});

test('a formatted range is parsed as the same range', () => {
  for (const versions of [
    { oldest: 1, newest: 1 },
    { oldest: 1, newest: 2 },
  ])
    assert.deepEqual(parseVersions(formatVersions(versions)), versions);
});

test('the newest version that both speak is chosen, and none if their ranges do not overlap', () => {
  const ours = { oldest: 1, newest: 2 };
  const table = [
    ['1', 1],
    ['2', 2],
    ['1-2', 2],
    ['2-3', 2],
    ['1-9', 2],
    ['3', undefined],
    ['3-4', undefined],
  ] as const;
  for (const [header, expected] of table) {
    const theirs = parseVersions(header);
    assert.equal(theirs && chooseVersion(theirs, ours), expected, header);
  }
});
