import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileSite } from '#sites/compile.ts';
import { parseOrigin } from './origin.ts';

const GOOD: readonly (readonly [written: string, host: string, port?: number])[] = [
  ['origin.example.com', 'origin.example.com'],
  ['Origin.Example.com:8080', 'origin.example.com', 8080],
  ['origin.example.com.', 'origin.example.com'],
  ['localhost:9000', 'localhost', 9000],
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:1', '192.0.2.1', 1],
  ['192.0.2.1:65535', '192.0.2.1', 65_535],
  ['[2001:DB8::1]', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1', 443],
  ['[::ffff:192.0.2.1]', '::ffff:192.0.2.1'],
  ['例子.example.com', 'xn--fsqu00a.example.com'],
  ['s3_bucket.example.com', 's3_bucket.example.com'],
];

const BAD: readonly string[] = [
  '',
  ':80',
  'http://example.com',
  'example.com/',
  'example.com:',
  'example.com:0',
  'example.com:65536',
  'example.com:+80',
  'example.com:8 0',
  'example.com:80:80',
  ' example.com',
  'user@example.com',
  '2001:db8::1',
  '[2001:db8::1',
  '[2001:db8::1]443',
  '[fe80::1%eth0]',
  '[192.0.2.1]',
  '192.0.2',
  '192.0.2.256',
  '127.1',
  '0x7f000001',
  '2130706433',
  '010.0.0.1',
  'a..b',
  '*.example.com',
  'exa\r\nmple.com',
];

test('origins are read into host and port, and the result compiles', () => {
  for (const [written, host, port] of GOOD) {
    const parsed = parseOrigin(written);
    assert.deepEqual(parsed, { kind: 'origin', host, ...(port !== undefined && { port }) }, written);
    const { kind: _, ...origin } = parsed;
    const spec = { id: 1, name: 'a.example.com', type: 'static', state: 'open' };
    const compiled = compileSite({ ...spec, origins: { protocol: 'http', primary: [origin] } }, 1);
    assert.equal(compiled.kind, 'site', written);
  }
});

test('an invalid origin is refused with a reason', () => {
  for (const written of BAD) {
    const parsed = parseOrigin(written);
    assert.ok(parsed.kind === 'invalid' && parsed.reason.length > 5, JSON.stringify(written));
  }
});
