import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOriginHealth } from './health.ts';

const A = origin('a:80');
const B = origin('b:80');

function origin(key: string, hostHeader = 'www.example.com', probeKey = key) {
  const destination = { host: 'a', port: 80, isAddress: false, serverName: undefined };
  return { key, slowKey: `1 ${key} ${hostHeader}`, destination, probe: { key: probeKey, destination } };
}

describe('passive health', () => {
  test('three failures in a row mark an origin down for a while, one more marks it anew', () => {
    const health = createOriginHealth();
    for (let i = 0; i < 2; i++) health.noteFailure(A, 'originConnect', 0);
    assert.equal(health.isDown(A, 0), false);
    health.noteFailure(A, 'originConnectTimeout', 0);
    assert.equal(health.isDown(A, 9_999), true);
    assert.equal(health.isDown(B, 0), false);
    assert.equal(health.isDown(A, -3_600_000), false); // setting the clock back by an hour does not keep it down
    assert.equal(health.isDown(A, 10_000), false);
    health.noteFailure(A, 'originConnectTimeout', 10_000);
    assert.equal(health.isDown(A, 10_001), true);
  });

  test('any answer in between restarts the count', () => {
    const health = createOriginHealth();
    for (let i = 0; i < 10; i++) {
      health.noteFailure(A, 'originConnect', 0);
      health.noteFailure(A, 'originConnect', 0);
      health.noteAnswer(A);
    }
    assert.equal(health.isDown(A, 0), false);
  });

  test('a failure caused by one wrong setting does not count against the address', () => {
    const health = createOriginHealth();
    for (const failure of ['originTls', 'originForbidden', 'originDns', 'originMalformed', 'originReset'] as const) {
      for (let i = 0; i < 5; i++) health.noteFailure(A, failure, 0);
    }
    assert.equal(health.isDown(A, 0), false);
  });

  test('late answers count against the site and the requested host, not against the address', () => {
    const health = createOriginHealth();
    const others = [origin('a:80', 'other.example.com'), { ...A, slowKey: '2' }];
    for (let i = 0; i < 3; i++) health.noteFailure(A, 'originTimeout', 0);
    assert.equal(health.isDown(A, 1), true);
    for (const other of others) assert.equal(health.isDown(other, 1), false);
    for (let i = 0; i < 3; i++) health.noteFailure(A, 'originConnect', 0);
    for (const other of others) assert.equal(health.isDown(other, 1), true);
  });

  test('a site that asks by TLS where TLS is not spoken marks the address down for itself only', () => {
    const health = createOriginHealth();
    const byTls = { ...A, slowKey: '2', destination: { ...A.destination, serverName: 'www.example.com' } };
    for (let i = 0; i < 3; i++) health.noteFailure(byTls, 'originConnectTimeout', 0);
    assert.deepEqual([health.isDown(byTls, 1), health.isDown(A, 1)], [true, false]);
    for (let i = 0; i < 3; i++) health.noteFailure(byTls, 'originConnect', 0);
    assert.equal(health.isDown(A, 1), true);
  });
});

describe('reports of probes', () => {
  test('probes mark an origin down for as long as they say so, at most half a minute after the last report', () => {
    const health = createOriginHealth();
    health.applyReport({ down: ['a:80'], up: [] }, 0);
    assert.deepEqual([health.isDown(A, 0), health.isDown(B, 0), health.isDown(A, 29_999)], [true, false, true]);
    assert.equal(health.isDown(A, 30_000), false);
    assert.equal(health.isDown(A, -1), false);
    health.applyReport({ down: ['a:80'], up: [] }, 30_000);
    health.applyReport({ down: [], up: [] }, 31_000);
    assert.equal(health.isDown(A, 31_000), false);
  });

  test('a monitor URL that fails concerns the sites that have it', () => {
    const health = createOriginHealth();
    const monitored = origin('a:80', 'www.example.com', 'a:80 http://www.example.com/status');
    health.applyReport({ down: [monitored.probe.key], up: [] }, 0);
    assert.deepEqual([health.isDown(monitored, 1), health.isDown(A, 1)], [true, false]);
  });

  test('the first connection ends a mark for failed connections, not one for late answers', () => {
    const health = createOriginHealth();
    for (let i = 0; i < 3; i++) health.noteFailure(A, 'originConnect', 0);
    health.applyReport({ down: [], up: ['a:80'] }, 1);
    assert.equal(health.isDown(A, 1), false);
    for (let i = 0; i < 3; i++) health.noteFailure(A, 'originTimeout', 0);
    health.applyReport({ down: [], up: ['a:80'] }, 1);
    assert.equal(health.isDown(A, 1), true);
  });
});
