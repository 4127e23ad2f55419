import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOriginHealth } from './health.ts';

describe('passive health', () => {
  test('three failures in a row mark an origin down for a while, one more marks it anew', () => {
    const health = createOriginHealth();
    for (let i = 0; i < 2; i++) health.noteFailure('a:80', 'originConnect', 0);
    assert.equal(health.isDown('a:80', 0), false);
    health.noteFailure('a:80', 'originTimeout', 0);
    assert.equal(health.isDown('a:80', 9_999), true);
    assert.equal(health.isDown('b:80', 0), false);
    assert.equal(health.isDown('a:80', -3_600_000), false); // not for an hour because the clock was set back by one
    assert.equal(health.isDown('a:80', 10_000), false);
    health.noteFailure('a:80', 'originConnectTimeout', 10_000);
    assert.equal(health.isDown('a:80', 10_001), true);
  });

  test('any answer in between begins the count again', () => {
    const health = createOriginHealth();
    for (let i = 0; i < 10; i++) {
      health.noteFailure('a:80', 'originConnect', 0);
      health.noteFailure('a:80', 'originConnect', 0);
      health.noteAnswer('a:80');
    }
    assert.equal(health.isDown('a:80', 0), false);
  });

  test('what one wrong setting causes does not count against the address', () => {
    const health = createOriginHealth();
    for (const failure of ['originTls', 'originForbidden', 'originDns', 'originMalformed', 'originReset'] as const) {
      for (let i = 0; i < 5; i++) health.noteFailure('a:80', failure, 0);
    }
    assert.equal(health.isDown('a:80', 0), false);
  });
});
