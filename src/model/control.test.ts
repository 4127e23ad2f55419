import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ControlFacts, findConflict, isOutdated, judgeClock, shareOfLimit } from './control.ts';

const OWN: ControlFacts = {
  build: '1.4.2',
  schema: '0029-controls',
  logStore: 's3://s3.example/bucket/',
  keys: { a: '1', b: '2' },
  newestKey: 'b',
  cnameSuffix: 'cdn.example',
  timeZone: 'Asia/Shanghai',
  domainStatusAs: 'int',
};

test('controls share a database if everything that customers and edges see is the same', () => {
  const rows: readonly [string, Partial<ControlFacts>, string | undefined][] = [
    ['the same', {}, undefined],
    ['a patch release', { build: '1.4.9' }, undefined],
    ['the next release', { build: '1.5.0', schema: '0030-next' }, undefined],
    ['the release after the next', { build: '1.6.0' }, 'build'],
    ['another major release', { build: '2.4.2' }, 'build'],
    ['log files on one machine', { logStore: 'local' }, 'log-store'],
    ['log files in another bucket', { logStore: 's3://s3.example/other/' }, 'log-store'],
    ['a shared directory here, S3 there', { logStore: 'shared' }, 'log-store'],
    ['an older key more', { keys: { z: '0', a: '1', b: '2' } }, undefined],
    ['a newer key, which this ring has not', { keys: { a: '1', b: '2', c: '3' }, newestKey: 'c' }, 'keyring'],
    ['the key of an earlier time, which this ring has', { keys: { a: '1' }, newestKey: 'a' }, 'keyring'],
    ['another ring', { keys: { x: '1' }, newestKey: 'x' }, 'keyring'],
    ['another key of the same id', { keys: { a: '1', b: '9' } }, 'keyring'],
    ['another suffix', { cnameSuffix: 'cdn.other' }, 'cname-suffix'],
    ['another time zone', { timeZone: 'UTC' }, 'time-zone'],
    ['statuses as texts', { domainStatusAs: 'string' }, 'domain-status-as'],
  ];
  for (const [what, difference, setting] of rows) {
    assert.equal(findConflict(OWN, { ...OWN, ...difference })?.setting, setting, what);
    assert.equal(findConflict({ ...OWN, ...difference }, OWN)?.setting, setting, `${what}, seen from there`);
  }
});

test('log files on the machines of both controls are a conflict, and in a shared directory none', () => {
  const [local, shared] = [
    { ...OWN, logStore: 'local' },
    { ...OWN, logStore: 'shared' },
  ];
  assert.equal(findConflict(local, local)?.setting, 'log-store');
  assert.equal(findConflict(shared, shared), undefined);
});

test('a control that knows fewer migrations than another one is outdated', () => {
  assert.equal(isOutdated(OWN, { ...OWN, schema: '0030-next' }), true);
  assert.equal(isOutdated(OWN, { ...OWN, schema: '0025-live-recordings' }), false);
  assert.equal(isOutdated(OWN, OWN), false);
});

test('a clock is off from one second and wrong from five, in either direction', () => {
  const rows = [
    [0, 'right'],
    [1_000, 'right'],
    [1_001, 'off'],
    [-1_001, 'off'],
    [5_000, 'off'],
    [5_001, 'wrong'],
    [-20_000, 'wrong'],
  ] as const;
  for (const [aheadMs, verdict] of rows) assert.equal(judgeClock(aheadMs), verdict, String(aheadMs));
});

test('a limit is divided by the controls, and never less than 1', () => {
  assert.deepEqual(
    [1, 2, 3, 200].map((controls) => shareOfLimit(100, controls)),
    [100, 50, 100 / 3, 1],
  );
});
