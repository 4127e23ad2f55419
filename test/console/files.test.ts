/** The console as control serves it, asked with curl: caching, codings, conditions, methods, and paths that lead nowhere else. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { buildConsole, DIST } from '../support/console/built-console.ts';
import { startService } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';

const HTML = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

test('control serves the console', needs('curl', { timeout: 120_000 }), async (t) => {
  buildConsole();
  const index = readFileSync(join(DIST, 'index.html'));
  const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(index.toString())?.[1] ?? assert.fail('no script');
  const { controlUrl } = await startService(t, { settings: { CAUSEWAY_CONSOLE: 'on', CAUSEWAY_LOCALE: 'en' } });
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}, args: readonly string[] = []) =>
    curl(controlUrl + path, headers, args);

  await t.test('a browser is led to the console from the root, a program is not', async () => {
    const led = await ask('/', HTML);
    assert.deepEqual([led.status, led.headers['location'], led.headers['vary']], [302, '/console/', 'Accept']);
    assert.equal((await ask('/')).status, 200);
    const short = await ask('/console', HTML);
    assert.deepEqual([short.status, short.headers['location']], [302, '/console/']);
  });

  await t.test('the page answers every path of the console, and is asked for again each time', async () => {
    for (const path of ['/console/', '/console/domains/7/cache?x=1', '/console/index.html', '/console/a.js']) {
      const { status, headers, body } = await ask(path, HTML);
      assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], path);
      assert.deepEqual([headers['cache-control'], headers['vary']], ['no-cache', 'Accept-Encoding']);
      assert.ok(body.equals(index), path);
      assert.match(
        headers['content-security-policy'] ?? '',
        /^default-src 'none'; script-src 'self'; style-src 'self'; /,
      );
      assert.match(
        headers['content-security-policy'] ?? '',
        /; require-trusted-types-for 'script'; trusted-types 'none'$/,
      );
      assert.match(headers['permissions-policy'] ?? '', /camera=\(\)/);
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
      assert.equal(headers['x-content-type-options'], 'nosniff');
    }
  });

  await t.test('assets may be kept for ever, and those that are gone are not the page', async () => {
    const { status, headers } = await ask(script);
    assert.deepEqual([status, headers['content-type']], [200, 'text/javascript; charset=utf-8']);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    const gone = await ask('/console/assets/gone-12345678.js', HTML);
    assert.deepEqual([gone.status, gone.headers['x-error-code']], [404, 'pathUnknown']);
    assert.equal(gone.headers['content-security-policy'], "default-src 'none';frame-ancestors 'none'");
    assert.equal(gone.headers['cache-control'], 'no-store');
  });

  await t.test('the coding is one that the client accepts', async () => {
    const plain = await ask(script);
    const rows: readonly (readonly [accepts: string, coding: string | undefined])[] = [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip, deflate, zstd', 'gzip'],
      ['zstd', undefined],
      ['gzip;q=0.5, br;q=0.2', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['*', 'br'],
      ['identity', undefined],
      ['identity, br;q=0.1', undefined],
      ['', undefined],
    ];
    const tags = new Set<string>();
    for (const [accepts, coding] of rows) {
      const { headers, body } = await ask(script, { 'accept-encoding': accepts });
      assert.equal(headers['content-encoding'], coding, accepts);
      assert.equal(Number(headers['content-length']), body.length);
      const read = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body;
      assert.ok(read.equals(plain.body), accepts);
      tags.add(headers['etag'] ?? '');
    }
    assert.equal(tags.size, 3, 'one for each coding');
  });

  await t.test('an unchanged file is not sent again', async () => {
    const headers = { ...HTML, 'accept-encoding': 'br' };
    const etag = (await ask('/console/', headers)).headers['etag'] ?? '';
    for (const known of [etag, `W/${etag}`, `"a", ${etag}`, '*']) {
      const answer = await ask('/console/', { ...headers, 'if-none-match': known });
      assert.deepEqual([answer.status, answer.body.length, answer.headers['etag']], [304, 0, etag], known);
      assert.equal(answer.headers['cache-control'], 'no-cache');
      assert.equal(answer.headers['vary'], 'Accept-Encoding');
    }
    assert.equal((await ask('/console/', { ...HTML, 'if-none-match': etag })).status, 200, 'of another coding');
    assert.equal((await ask('/console/', { ...headers, 'if-match': '"other"' })).status, 412);
  });

  await t.test('the console can be read, and nothing else', async () => {
    const head = await ask(script, { 'accept-encoding': 'br' }, ['--head']);
    assert.deepEqual([head.status, head.body.length, head.headers['content-encoding']], [200, 0, 'br']);
    assert.ok(Number(head.headers['content-length']) > 0);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      for (const path of ['/console', '/console/', script, '/console/domains']) {
        const { status, headers } = await ask(path, HTML, ['--request', method]);
        assert.deepEqual([status, headers['allow']], [405, 'GET, HEAD'], `${method} ${path}`);
      }
    }
    const whole = await ask(script, { range: 'bytes=0-9' });
    assert.equal(whole.status, 200, 'a range may be ignored');
    assert.equal(whole.body.length, (await ask(script)).body.length);
  });

  await t.test('no path leads out of the files of the console', async () => {
    const program = await ask('/console/domains', { accept: 'application/json' });
    assert.deepEqual([program.status, program.headers['x-error-code']], [404, 'pathUnknown']);
    const paths = [
      '/console/../package.json',
      '/console/%2e%2e/%2e%2e/package.json',
      '/console/..%2f..%2fpackage.json',
      '/console/assets/../../../package.json',
      '/console/assets/..%5c..%5cpackage.json',
      '/console/assets/%00',
      '/console//etc/passwd',
      '/console/.stamp',
      '/console/.vite/manifest.json',
      `${script}.br`,
      `${script}%2ebr`,
      script.replace('assets', '%61ssets'),
      '/%63onsole/',
      '/console/%zz',
      '/CONSOLE/',
    ];
    for (const path of paths) {
      for (const accept of [HTML.accept, 'text/plain']) {
        const { status, body } = await ask(path, { accept });
        const isPage = status === 200 && body.equals(index);
        assert.ok(isPage || status === 404, `${path} (${accept}): ${status}`);
        assert.ok(accept === HTML.accept || status === 404, `${path} (${accept}): ${status}`);
      }
    }
  });

  await t.test('other pages have policies of their own', async () => {
    const health = await ask('/healthz');
    assert.equal(health.headers['content-security-policy'], "default-src 'none';frame-ancestors 'none'");
    const docs = await ask('/docs?lang=en');
    assert.match(docs.headers['content-security-policy'] ?? '', /^default-src 'none'; style-src 'sha256-[^']{44}'; /);
  });
});

test('a console that is switched off is not there, and the front page is shown', needs('curl'), async (t) => {
  const { controlUrl } = await startService(t, { settings: { CAUSEWAY_CONSOLE: 'off' } });
  const front = await curl(controlUrl, HTML);
  assert.equal(front.status, 200);
  assert.match(front.body.toString(), /<h1>Causeway<\/h1>/);
  for (const args of [[], ['--request', 'POST']])
    for (const path of ['/console', '/console/', '/console/assets/x.js'])
      assert.equal((await curl(controlUrl + path, HTML, args)).status, 404, `${args} ${path}`);
});

/** `args`: other arguments of curl. The path is sent as it is written, and the body is left in its coding. */
async function curl(
  url: string,
  headers: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<Answer> {
  const fields = Object.entries(headers).flatMap(([name, value]) => [
    '--header',
    value === '' ? `${name};` : `${name}: ${value}`,
  ]);
  const common = ['--silent', '--show-error', '--path-as-is', '--include', '--max-time', '20'];
  const run = promisify(execFile);
  const { stdout } = await run(obtain('curl'), [...common, ...fields, ...args, url], {
    encoding: 'buffer',
    maxBuffer: 2 ** 24,
  });
  const end = stdout.indexOf('\r\n\r\n');
  const [first = '', ...lines] = stdout.toString('latin1', 0, end).split('\r\n');
  const pairs = lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.replace(/^[^:]*: ?/, '')]);
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(pairs), body: stdout.subarray(end + 4) };
}
