/** The console behind nginx, with the configuration of docs/console.md. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildConsole, ROOT } from '../support/console/built-console.ts';
import { startNginx } from '../support/nginx.ts';
import { startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';

const HTML = { accept: 'text/html' };

test('nginx as docs/console.md configures it passes pages and calls on as they are', needs('nginx'), async (t) => {
  buildConsole();
  const settings = { CAUSEWAY_CONSOLE: 'on', CAUSEWAY_TRUSTED_PROXIES: '127.0.0.1' };
  const { controlUrl, token } = await startService(t, { settings });
  const [, location = ''] =
    /^ {2}(location \/ \{.*?^ {2}\})$/ms.exec(readFileSync(join(ROOT, 'docs/console.md'), 'utf8')) ?? [];
  const { address } = await startNginx(t, { server: location.replace('127.0.0.1:8700', new URL(controlUrl).host) });
  const [direct, proxied] = await Promise.all(
    [controlUrl, `http://${address}`].map((url) => fetch(url, { headers: HTML })),
  );
  assert.equal(proxied?.url, `http://${address}/console/`);
  for (const name of ['content-security-policy', 'etag', 'content-encoding', 'cache-control', 'vary'])
    assert.equal(proxied?.headers.get(name), direct?.headers.get(name), name);
  assert.equal(await proxied?.text(), await direct?.text());
  const call = await fetch(`http://${address}/domain/listDomains`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ access_token: token }),
  });
  assert.equal(call.status, 200);
});
